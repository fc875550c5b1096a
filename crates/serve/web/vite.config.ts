import { defineConfig } from "vite";

// Files keep their names, so that the server can name them and the same source gives the same bytes.
export default defineConfig({
  build: {
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        entryFileNames: "explorer.js",
        assetFileNames: "explorer[extname]",
      },
    },
  },
});
