import { defineConfig } from 'vite'

/** The Host of the page is kept: the server takes sign-ins from its own page alone. */
const gateway = { target: 'http://localhost:8080', changeOrigin: false }

/** Builds `dist/`: plain files with no inline script or style, so that the page works under a strict content security policy. */
export default defineConfig({
  base: '/',
  build: { target: 'es2022', assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  server: { proxy: { '/api': gateway, '/config.json': gateway } },
})
