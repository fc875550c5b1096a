// Puts the page together once its payload is unpacked.

/** Draws the plots of the findings that are written out in the page. */
function drawFindings(audit) {
  for (const article of document.querySelectorAll("article.csc")) {
    const column = audit.columns.find(({ id }) => id === article.dataset.definition);
    const host = article.querySelector(".plot");
    const { figure, show } = ecdFigure(audit, Number(article.dataset.subgroup), host.dataset.viewpoint, column, 170);
    fill(host, figure);
    show();
  }
}

/** Opens and closes the dialog as the address says. */
class Opener {
  constructor(audit, explorer) {
    this.audit = audit;
    this.explorer = explorer;
    this.dialog = document.getElementById("subgroup");
    this.dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.close();
    });
    this.dialog.addEventListener("click", (event) => {
      if (event.target === this.dialog) this.close();
    });
  }

  follow() {
    const { subgroup, column } = this.explorer.choices;
    if (subgroup === null) {
      if (this.dialog.open) this.dialog.close();
      return;
    }
    const wasOpen = this.dialog.open;
    const isSame = wasOpen && this.shown === subgroup;
    this.shown = subgroup;
    const drawPlots = showSubgroup(this.dialog, this.audit, subgroup, this.audit.columns[column], {
      address: (s) => Choices.write(this.audit, { ...this.explorer.choices, subgroup: s }),
      choose: (id) => this.choose(id),
      close: () => this.close(),
    });
    if (!wasOpen) this.dialog.showModal();
    drawPlots();
    this.dialog.querySelector(isSame ? "#subgroup-definition" : "#subgroup-title").focus();
    if (!isSame) this.dialog.scrollTop = 0;
  }

  close() {
    const { subgroup } = this.explorer.choices;
    this.explorer.choices.subgroup = null;
    this.explorer.changed();
    this.follow();
    // The browser returns to what opened the dialog, unless the table was drawn anew meanwhile.
    if (document.activeElement === document.body) {
      document.querySelector(`#ranked-body tr[data-subgroup="${subgroup}"] a`)?.focus();
    }
  }

  /** The same subgroup under another definition, without a step in the browser's history. */
  choose(id) {
    this.explorer.choose({ column: this.audit.columns.findIndex((column) => column.id === id), page: 1 });
    this.follow();
  }
}

/** Whether the address speaks of subgroups, and not of a section of the page. */
function saysChoices() {
  return /=|^#subgroup-\d+$/.test(location.hash);
}

async function start() {
  const state = document.getElementById("explorer-state");
  if (typeof DecompressionStream === "undefined") {
    state.textContent = "This browser is too old to unpack the subgroups; everything else on this page reads without them.";
    return;
  }
  const audit = new Audit(await unpack(document.getElementById("payload").textContent));
  if (audit.subgroups === 0 || audit.columns.length === 0) {
    state.textContent = "There is no ranked subgroup.";
    return;
  }
  const remember = () => history.replaceState(null, "", Choices.write(audit, explorer.choices));
  const explorer = new Explorer(audit, Choices.read(audit), remember);
  const opener = new Opener(audit, explorer);
  document.getElementById("explorer").hidden = false;
  explorer.draw();
  drawFindings(audit);
  if (saysChoices()) opener.follow();
  addEventListener("hashchange", () => {
    if (!saysChoices()) return;
    explorer.follow(Choices.read(audit, explorer.choices));
    opener.follow();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  matchMedia("print").addEventListener("change", redrawAll);
  document.documentElement.dataset.ready = "yes";
}

start();
