//! Universal Binary JSON, as much of it as XGBoost writes: one value after another, each behind a
//! byte that tells its type; arrays of one type hold that byte once.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

/// Reads one value, which must be all there is.
pub(super) fn read<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, UbjsonError> {
    let mut reader = Reader {
        bytes,
        at: 0,
        depth: 0,
    };
    let value = T::deserialize(&mut reader).map_err(|error| error.at(reader.at))?;
    if reader.bytes[reader.at..].iter().all(|&byte| byte == b'N') {
        Ok(value)
    } else {
        Err(UbjsonError::new("there is more after the end").at(reader.at))
    }
}

/// What is wrong, and at which byte.
#[derive(Debug)]
pub(super) struct UbjsonError {
    what: String,
    at: Option<usize>,
}

impl UbjsonError {
    fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            at: None,
        }
    }

    fn at(self, at: usize) -> Self {
        Self {
            at: Some(self.at.unwrap_or(at)),
            ..self
        }
    }
}

impl fmt::Display for UbjsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some(at) => write!(f, "{} at byte {at}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl std::error::Error for UbjsonError {}

impl de::Error for UbjsonError {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self::new(what.to_string())
    }
}

type Result_<T> = Result<T, UbjsonError>;

/// Deeper than any model; less deep than the stack.
const DEEPEST: usize = 64;

struct Reader<'de> {
    bytes: &'de [u8],
    at: usize,
    depth: usize,
}

impl<'de> Reader<'de> {
    fn take(&mut self, count: usize) -> Result_<&'de [u8]> {
        let end = self.at.checked_add(count);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| UbjsonError::new("it is cut off").at(self.bytes.len()))?;
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result_<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn byte(&mut self) -> Result_<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// The next byte that is no filler, left where it is.
    fn peek(&mut self) -> Result_<u8> {
        loop {
            match self.bytes.get(self.at) {
                Some(b'N') => self.at += 1,
                Some(&byte) => return Ok(byte),
                None => return Err(UbjsonError::new("it is cut off").at(self.at)),
            }
        }
    }

    fn kind(&mut self) -> Result_<u8> {
        self.peek()?;
        self.byte()
    }

    fn integer(&mut self, kind: u8) -> Result_<Option<i64>> {
        Ok(Some(match kind {
            b'i' => i64::from(i8::from_be_bytes(self.array()?)),
            b'U' => i64::from(self.byte()?),
            b'I' => i64::from(i16::from_be_bytes(self.array()?)),
            b'l' => i64::from(i32::from_be_bytes(self.array()?)),
            b'L' => i64::from_be_bytes(self.array()?),
            _ => return Ok(None),
        }))
    }

    fn length(&mut self) -> Result_<usize> {
        let start = self.at;
        let kind = self.kind()?;
        let length = self.integer(kind)?.and_then(|l| usize::try_from(l).ok());
        length.ok_or_else(|| UbjsonError::new("there is no length").at(start))
    }

    fn text(&mut self) -> Result_<&'de str> {
        let start = self.at;
        let length = self.length()?;
        std::str::from_utf8(self.take(length)?)
            .map_err(|_| UbjsonError::new("there is text that is not UTF-8").at(start))
    }

    fn value<V: Visitor<'de>>(&mut self, kind: u8, visitor: V) -> Result_<V::Value> {
        if let Some(integer) = self.integer(kind)? {
            return visitor.visit_i64(integer);
        }
        match kind {
            b'Z' => visitor.visit_unit(),
            b'T' => visitor.visit_bool(true),
            b'F' => visitor.visit_bool(false),
            b'd' => visitor.visit_f32(f32::from_be_bytes(self.array()?)),
            b'D' => visitor.visit_f64(f64::from_be_bytes(self.array()?)),
            b'C' => visitor.visit_char(char::from(self.byte()?)),
            b'S' => visitor.visit_borrowed_str(self.text()?),
            b'[' => self.nested(|reader, items| visitor.visit_seq(Items { reader, items })),
            b'{' => self.nested(|reader, items| visitor.visit_map(Items { reader, items })),
            other => Err(UbjsonError::new(format!(
                "a value of type `{}` is not known",
                other.escape_ascii()
            ))
            .at(self.at - 1)),
        }
    }

    /// What is inside brackets. All of it must be taken.
    fn nested<T>(
        &mut self,
        inside: impl FnOnce(&mut Self, &mut Bracket) -> Result_<T>,
    ) -> Result_<T> {
        if self.depth == DEEPEST {
            return Err(UbjsonError::new("it is nested too deeply").at(self.at));
        }
        let mut bracket = Bracket {
            kind: None,
            left: None,
        };
        if self.peek()? == b'$' {
            self.at += 1;
            bracket.kind = Some(self.byte()?);
            if self.peek()? != b'#' {
                return Err(UbjsonError::new("there is a type without a length").at(self.at));
            }
        }
        if self.peek()? == b'#' {
            self.at += 1;
            let left = self.length()?;
            // Items of these types take no bytes: nothing would bound how many there are.
            if matches!(bracket.kind, Some(b'Z' | b'T' | b'F' | b'N')) {
                return Err(UbjsonError::new("there is a list of nothing").at(self.at));
            }
            bracket.left = Some(left);
        }
        self.depth += 1;
        let value = inside(self, &mut bracket)?;
        self.depth -= 1;
        Ok(value)
    }
}

/// Where one is inside brackets: the type of all items and how many are left, if they are told.
struct Bracket {
    kind: Option<u8>,
    left: Option<usize>,
}

struct Items<'a, 'de> {
    reader: &'a mut Reader<'de>,
    items: &'a mut Bracket,
}

impl Items<'_, '_> {
    fn is_at_end(&mut self, end: u8) -> Result_<bool> {
        match &mut self.items.left {
            Some(0) => Ok(true),
            Some(left) => {
                *left -= 1;
                Ok(false)
            }
            None if self.reader.peek()? == end => {
                self.reader.at += 1;
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = UbjsonError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result_<Option<T::Value>> {
        if self.is_at_end(b']')? {
            return Ok(None);
        }
        let kind = self.items.kind;
        let reader = &mut *self.reader;
        seed.deserialize(Item { reader, kind }).map(Some)
    }
}

impl<'de> MapAccess<'de> for Items<'_, 'de> {
    type Error = UbjsonError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result_<Option<K::Value>> {
        if self.is_at_end(b'}')? {
            return Ok(None);
        }
        let key = self.reader.text()?;
        seed.deserialize(de::value::BorrowedStrDeserializer::new(key))
            .map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result_<V::Value> {
        let kind = self.items.kind;
        let reader = &mut *self.reader;
        seed.deserialize(Item { reader, kind })
    }
}

/// A value whose type may be known already.
struct Item<'a, 'de> {
    reader: &'a mut Reader<'de>,
    kind: Option<u8>,
}

impl<'de> Deserializer<'de> for Item<'_, 'de> {
    type Error = UbjsonError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result_<V::Value> {
        let kind = match self.kind {
            Some(kind) => kind,
            None => self.reader.kind()?,
        };
        self.reader.value(kind, visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result_<V::Value> {
        if self.kind.is_none() && self.reader.peek()? == b'Z' {
            self.reader.at += 1;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result_<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = UbjsonError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result_<V::Value> {
        let kind = self.kind()?;
        self.value(kind, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn error<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> String {
        read::<T>(bytes)
            .err()
            .map(|e| e.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn all_types_of_lists() {
        assert_eq!(
            read::<Vec<f32>>(b"[$d#i\x02\x3f\x80\0\0\xc0\0\0\0").unwrap(),
            [1.0, -2.0]
        );
        assert_eq!(
            read::<Vec<i64>>(b"[i\xffU\xffI\x01\0l\0\x01\0\0L\0\0\0\0\0\0\0\x05]").unwrap(),
            [-1, 255, 256, 65_536, 5]
        );
        assert_eq!(read::<Vec<bool>>(b"[#U\x02TF").unwrap(), [true, false]);
        assert_eq!(
            read::<Vec<Option<f64>>>(b"[ZD\x3f\xf0\0\0\0\0\0\0N]N").unwrap(),
            [None, Some(1.0)]
        );
        let map: BTreeMap<String, String> = read(b"{i\x01aSi\x02xyU\x02\xc3\xbcSi\0}").unwrap();
        assert_eq!(map["a"], "xy");
        assert_eq!(map["\u{fc}"], "");
        let lists: Vec<Vec<u8>> = read(b"[$[#i\x02$U#i\x01\x07]").unwrap();
        assert_eq!(lists, [vec![7], vec![]]);
    }

    #[test]
    fn what_is_damaged_is_told_with_its_place() {
        type Numbers = Vec<i64>;
        assert_eq!(
            error::<Numbers>(b"[$l#i\x02\0\0\0\x01\0"),
            "it is cut off at byte 11"
        );
        assert_eq!(error::<Numbers>(b"[i\x01"), "it is cut off at byte 3");
        assert_eq!(error::<Numbers>(b""), "it is cut off at byte 0");
        assert_eq!(
            error::<Numbers>(b"[x]"),
            "a value of type `x` is not known at byte 1"
        );
        assert_eq!(
            error::<Numbers>(b"[]i\x01"),
            "there is more after the end at byte 2"
        );
        assert_eq!(
            error::<Numbers>(b"[$ii\x01]"),
            "there is a type without a length at byte 3"
        );
        assert_eq!(error::<Numbers>(b"[#i\xff"), "there is no length at byte 2");
        assert_eq!(
            error::<Numbers>(b"[$T#L\x7f\xff\xff\xff\xff\xff\xff\xff"),
            "there is a list of nothing at byte 13"
        );
        assert_eq!(
            error::<Numbers>(b"[$U#L\x7f\xff\xff\xff\xff\xff\xff\xff"),
            "it is cut off at byte 13"
        );
        assert!(error::<Numbers>(b"[Si\x01a]").starts_with("invalid type: string"));
        assert_eq!(
            error::<de::IgnoredAny>(&[b'['; 100_000]),
            "it is nested too deeply at byte 65"
        );
    }
}
