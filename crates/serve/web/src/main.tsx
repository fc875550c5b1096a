// The page of `facts serve`.

import { render } from "preact";
import { App, VIEWS, type View } from "./app";
import { Compare } from "./views/compare";
import { HandOver } from "./views/handover";
import { OnePerson } from "./views/person";
import { WhatIf } from "./views/whatif";
import "./style.css";

/** What needs a server: model and rows, several audits, files that are written. */
const SERVED: View[] = [
  { name: "person", label: "One person", has: (_, title) => title?.people ?? false, show: (shown) => <OnePerson {...shown} may={shown.title.people} /> },
  { name: "compare", label: "Compare", has: ({ audits }) => audits.length > 1, show: (shown) => <Compare {...shown} /> },
  { name: "what-if", label: "What if", has: ({ bench }) => bench, show: (shown) => <WhatIf {...shown} /> },
  { name: "hand-over", label: "Hand over", show: (shown) => <HandOver {...shown} /> },
];

const root = document.getElementById("app");
if (root) render(<App all={[...VIEWS, ...SERVED]} />, root);
