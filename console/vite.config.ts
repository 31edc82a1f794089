import { defineConfig } from 'vite'

/** Builds `dist/`: plain files with no inline script or style, so that the page works under a strict content security policy. */
export default defineConfig({
  base: '/',
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: { '/api': 'http://localhost:8080', '/config.json': 'http://localhost:8080' } },
})
