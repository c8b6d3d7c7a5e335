import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Built into the server package, which serves it (`packages/server/src/http/dashboard.ts`). */
export default defineConfig({
  root: import.meta.dirname,
  // Relative: the service may be reached under a path prefix, which is not known here.
  base: "./",
  plugins: [react()],
  resolve: {
    alias: {
      // Puts style elements into the page, which the content security policy refuses; ours makes style sheets instead.
      "react-style-singleton": fileURLToPath(new URL("src/foreign/style-singleton.ts", import.meta.url)),
    },
  },
  build: {
    outDir: "../server/dist/dashboard",
    emptyOutDir: true,
    target: "es2023",
    // The preload of modules is native where the page runs, and the polyfill would be one more script.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Fonts and images go out as files, so that `data:` stays the exception.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
  },
  // Against a service under development: `STEPWELL_DASHBOARD_REDIRECT_URIS=http://localhost:5173/signed-in`.
  server: { port: 5173, strictPort: true },
});
