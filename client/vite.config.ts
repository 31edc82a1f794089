import { defineConfig } from 'vite'

/**
 * Builds `dist/trunkline.js` (ES module) and `dist/trunkline.global.js` (for a script tag:
 * `Trunkline.SignalWire`).
 * With `--mode push`, builds the part for service workers: `dist/push.js` and `dist/push.global.js`
 * (`TrunklinePush.decryptPush`). One run makes one global.
 */
export default defineConfig(({ mode }) => {
  const [entry, name, file] =
    mode === 'push' ? ['push', 'TrunklinePush', 'push'] : ['index', 'Trunkline', 'trunkline']
  return {
    build: {
      target: 'es2022',
      sourcemap: true,
      emptyOutDir: mode !== 'push',
      // One file, also with parts that the softphone loads on demand.
      rolldownOptions: { output: { codeSplitting: false } },
      lib: {
        entry: `src/${entry}.ts`,
        name,
        formats: ['es', 'iife'],
        fileName: (format) => (format === 'es' ? `${file}.js` : `${file}.global.js`),
      },
    },
  }
})
