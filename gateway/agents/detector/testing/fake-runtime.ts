import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runtime with a model of its own: the probability is the share of loud samples of a window. The state counts
 * the windows of a sound. It fails at a model `broken`, and the thread dies at a full-scale negative sample.
 */
const runtime = `
class Tensor { constructor(type, data, shape) { Object.assign(this, { type, data, shape }) } }
const InferenceSession = {
  async create(model) {
    if (Buffer.from(model).toString() === 'broken') throw new Error('no such model')
    return {
      async run({ input, state, sr }) {
        if (input.shape.join() !== '1,288' || state.shape.join() !== '2,1,128' || sr.data[0] !== 8000n)
          throw new Error('wrong inputs')
        if (input.data.includes(-1)) process.exit(7)
        const loud = input.data.slice(32).filter((sample) => Math.abs(sample) > 0.1).length / 256
        const next = Float32Array.from(state.data)
        next[0] += 1
        return { output: new Tensor('float32', [loud], [1, 1]), stateN: new Tensor('float32', next, state.shape) }
      },
    }
  },
}
module.exports = { Tensor, InferenceSession, env: { wasm: {} } }
`

/** Folder with a runtime and a model that a test can watch; {@link close} removes it. */
export class FakeRuntimeFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'detector-'))

  /** Installs the runtime and a model with this content. */
  install(model = 'model'): void {
    this.#write('onnxruntime-node', { 'package.json': '{"main":"index.js"}', 'index.js': runtime })
    this.#write('@ricky0123/vad-web', { 'dist/silero_vad_v5.onnx': model })
  }

  close(): void {
    rmSync(this.path, { recursive: true, force: true })
  }

  #write(name: string, files: Readonly<Record<string, string>>): void {
    for (const [file, content] of Object.entries(files)) {
      const path = join(this.path, 'node_modules', name, file)
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, content)
    }
  }
}
