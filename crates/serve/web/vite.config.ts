import { defineConfig, type UserConfig } from "vite";

// Files keep their names, so that they can be named where they are carried and the same source gives the same bytes.
const built: UserConfig["build"] = {
  target: "es2022",
  modulePreload: false,
  assetsInlineLimit: 0,
  emptyOutDir: true,
  rollupOptions: {
    output: {
      // Whoever has the built file alone is told whose work it holds.
      postBanner: "/*! Holds Preact, Copyright (c) 2015-present Jason Miller, under the MIT licence: see LICENSE-preact */",
      entryFileNames: "explorer.js",
      assetFileNames: "explorer[extname]",
    },
  },
};

// `--mode report` builds the explorer that report.html carries: no page of its own, and no file beside it.
export default defineConfig(({ mode }) => mode !== "report" ? { build: built } : {
  publicDir: false,
  build: {
    ...built,
    outDir: "../../report/src/html/assets/explorer",
    rollupOptions: { ...built?.rollupOptions, input: "src/report.tsx" },
  },
});
