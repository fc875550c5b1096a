//! Signatures of manifests, as `ssh-keygen -Y sign` makes them.

use std::path::Path;

use ssh_key::{HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};

use crate::failure::Failure;

/// What is signed, so that a signature for something else is none for a pack.
const NAMESPACE: &str = "facts-pack";

/// Signs a manifest with the private key in a file.
pub(super) fn sign(key: &Path, manifest: &[u8]) -> Result<Vec<u8>, Failure> {
    let name = key.display();
    let text = facts_guard::read_text(key, facts_guard::LARGEST_TEXT)
        .map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    let refuse = |why: String| {
        Failure::usage(format!(
            "{name}: {why}; sign with an Ed25519 key without a passphrase, as `ssh-keygen -t ed25519 -N \"\" -f KEY` makes one"
        ))
    };
    let key = PrivateKey::from_openssh(text.trim_start())
        .map_err(|error| refuse(format!("this is no private key of OpenSSH: {error}")))?;
    if key.is_encrypted() {
        return Err(refuse("the key is protected by a passphrase".to_owned()));
    }
    let signature = key.sign(NAMESPACE, HashAlg::Sha512, manifest);
    let signature = signature.map_err(|error| refuse(format!("the key cannot sign: {error}")))?;
    let text = signature.to_pem(LineEnding::LF);
    let text = text.map_err(|error| refuse(format!("the signature cannot be written: {error}")))?;
    Ok(text.into_bytes())
}

/// Reads the public key of whom a signature is expected from.
pub(super) fn signer(path: &Path) -> Result<PublicKey, Failure> {
    let name = path.display();
    let text = facts_guard::read_text(path, facts_guard::LARGEST_TEXT)
        .map_err(|error| Failure::usage(format!("{name}: {error}")))?;
    PublicKey::from_openssh(text.trim()).map_err(|error| {
        Failure::usage(format!("{name}: this is no public key of OpenSSH: {error}"))
    })
}

/// Whose key signed a manifest, as its fingerprint. What is wrong, if it is not signed so, or by another
/// than is expected.
pub(super) fn check(
    signature: &[u8],
    manifest: &[u8],
    expected: Option<&PublicKey>,
) -> Result<String, String> {
    let wrong = |why: &str| format!("the signature is damaged: {why}");
    let read = SshSig::from_pem(signature).map_err(|error| wrong(&error.to_string()))?;
    // Written in one way only, so that no bit of it is beside the point.
    let again = read.to_pem(LineEnding::LF).ok();
    if again.is_none_or(|again| again.as_bytes() != signature) {
        return Err(wrong("it is not written as signatures are"));
    }
    let key = PublicKey::from(read.public_key().clone());
    if let Some(expected) = expected
        && expected.key_data() != key.key_data()
    {
        return Err(format!(
            "the pack is signed by {}, not by {}",
            fingerprint(&key),
            fingerprint(expected)
        ));
    }
    key.verify(NAMESPACE, manifest, &read)
        .map_err(|_| "the signature is not of this manifest".to_owned())?;
    Ok(fingerprint(&key))
}

fn fingerprint(key: &PublicKey) -> String {
    key.fingerprint(HashAlg::Sha256).to_string()
}
