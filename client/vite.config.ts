import { defineConfig } from 'vite'

/** Builds `dist/index.js` (ES module) and `dist/index.global.js` (for a script tag: `Trunkline.SignalWire`). */
export default defineConfig({
  build: {
    target: 'es2022',
    sourcemap: true,
    lib: {
      entry: 'src/index.ts',
      name: 'Trunkline',
      formats: ['es', 'iife'],
      fileName: (format) => (format === 'es' ? 'index.js' : 'index.global.js'),
    },
  },
})
