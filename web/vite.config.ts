import { defineConfig } from "vite";

// Built into the Python package, which serves the page. Images stay files: the content security policy needs no exception.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../src/orienteer/service/page",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
  },
  server: { proxy: { "/v1": "http://127.0.0.1:8000" } },
});
