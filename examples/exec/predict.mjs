// A model as a program, over Arrow: exec:node examples/exec/predict.mjs examples/exec/model.json
//
// Reads one Arrow IPC stream from standard input; for each record batch in it writes one record
// batch with one column, one answer a row, to standard output. Needs apache-arrow: run `npm ci` in
// this folder first.

import { readFileSync } from "node:fs";
import { Bool, RecordBatchReader, RecordBatchStreamWriter, Table, vectorFromArray } from "apache-arrow";

const model = JSON.parse(readFileSync(process.argv[2], "utf8"));

/** Whether the score of each row is above 0. */
function predict(rows) {
  const scores = new Array(rows.numRows).fill(model.intercept);
  for (const [name, levels] of Object.entries(model.levels)) {
    const column = rows.getChild(name);
    scores.forEach((_, row) => (scores[row] += levels[column.get(row)] ?? 0));
  }
  for (const [name, coefficient] of Object.entries(model.numbers)) {
    const column = rows.getChild(name);
    // Whole numbers of 64 bits come as BigInt.
    scores.forEach((_, row) => (scores[row] += coefficient * Number(column.get(row))));
  }
  return scores.map((score) => score > 0);
}

const answers = new RecordBatchStreamWriter();
answers.pipe(process.stdout);
for await (const rows of await RecordBatchReader.from(process.stdin)) {
  const [answer] = new Table({ class: vectorFromArray(predict(rows), new Bool()) }).batches;
  answers.write(answer);
}
answers.finish();
