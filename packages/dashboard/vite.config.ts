import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The dashboard is built into the server package, which serves it (`packages/server/src/http/dashboard/dashboard.ts`). */
export default defineConfig({
  root: import.meta.dirname,
  // Relative: the service may be reached under a path prefix, which is not known here.
  base: "./",
  plugins: [react()],
  resolve: {
    alias: {
      // The package puts style elements into the page, which the content security policy refuses. Our replacement uses a constructed style sheet.
      "react-style-singleton": fileURLToPath(new URL("src/foreign/style-singleton.ts", import.meta.url)),
    },
  },
  build: {
    outDir: "../server/dist/dashboard",
    emptyOutDir: true,
    rolldownOptions: {
      // The pages of the documentation are made by scripts/build-docs.ts, which finds their script and style in the manifest.
      input: {
        index: fileURLToPath(new URL("index.html", import.meta.url)),
        docs: fileURLToPath(new URL("src/docs/main.ts", import.meta.url)),
      },
    },
    manifest: "manifest.json",
    target: "es2023",
    // Every browser that can show the page supports `modulepreload`, so the polyfill would only be one more script.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Fonts and images stay separate files, because `data:` in the content security policy is only meant for icons in style sheets.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
  },
  // For `npm run dev --workspace @stepwell/dashboard`, beside a service that was started with STEPWELL_BASE_URL=http://localhost:5173. The page comes
  // from here and is updated when its sources change. Everything else comes from the service.
  server: {
    port: 5173,
    strictPort: true,
    proxy: Object.fromEntries(
      [
        "/oidc",
        "/organizations",
        "/account",
        "/whoami",
        "/stream",
        "/openapi.json",
        "/docs",
        "/sign-in",
        "/set-password",
        "/invitations",
        "/health",
      ].map((path) => [path, process.env.STEPWELL_SERVICE_URL ?? "http://localhost:8080"]),
    ),
  },
});
