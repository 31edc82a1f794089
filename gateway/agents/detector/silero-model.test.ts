import { describe, expect, it } from 'vitest'
import { type ModelRuntime, SileroModel } from './silero-model.ts'

class Tensor {
  readonly data: Float32Array | BigInt64Array
  readonly shape: readonly number[]

  constructor(_: string, data: Float32Array | BigInt64Array, shape: readonly number[]) {
    this.data = data
    this.shape = shape
  }
}

type Inputs = Readonly<Record<'input' | 'state' | 'sr', Tensor>>

/** Model whose probability is the number of windows that its state has counted. */
const load = async (outputs = ['output', 'stateN']) => {
  const runs: Inputs[] = []
  const env = { wasm: { numThreads: 4 } }
  const run = async (inputs: Inputs) => {
    runs.push(inputs)
    const state = Float32Array.from(inputs.state.data as Float32Array)
    state[0]! += 1
    const found = {
      output: new Tensor('', Float32Array.of(state[0]!), []),
      stateN: new Tensor('', state, inputs.state.shape),
    }
    return Object.fromEntries(Object.entries(found).filter(([name]) => outputs.includes(name)))
  }
  const runtime = { Tensor, env, InferenceSession: { create: async () => ({ run }) } }
  const model = await SileroModel.load(runtime as unknown as ModelRuntime, new Uint8Array(1))
  return { model, runs, env }
}

const ramp = (from: number, count: number) => Int16Array.from({ length: count }, (_, i) => from + i)

describe("Silero's model", () => {
  it('gets windows of 256 samples, each with the last 32 samples of the one before', async () => {
    const { model, runs } = await load()
    const sound = model.open()
    runs.splice(0)
    expect(await sound.hear(ramp(0, 160))).toEqual([])
    expect(await sound.hear(ramp(160, 160))).toEqual([1])
    expect(await sound.hear(ramp(320, 500))).toEqual([2, 3])
    const samples = runs.map(({ input }) => Array.from(input.data as Float32Array, (x) => x * 32_768))
    expect(samples[0]).toEqual([...Array<number>(32).fill(0), ...ramp(0, 256)])
    expect(samples[1]).toEqual([...ramp(224, 288)])
    expect(samples[2]).toEqual([...ramp(480, 288)])
    expect(runs[0]).toMatchObject({
      input: { shape: [1, 288] },
      state: { shape: [2, 1, 128] },
      sr: { data: BigInt64Array.of(8000n), shape: [] },
    })
  })

  it('keeps the state of each sound apart', async () => {
    const { model } = await load()
    const one = model.open()
    const two = model.open()
    expect(await one.hear(ramp(0, 512))).toEqual([1, 2])
    expect(await two.hear(ramp(0, 256))).toEqual([1])
    expect(await one.hear(ramp(0, 256))).toEqual([3])
  })

  it('uses one thread of WebAssembly, and refuses another model', async () => {
    expect((await load()).env.wasm.numThreads).toBe(1)
    await expect(load(['output'])).rejects.toThrow('The model has not the outputs of Silero.')
    await expect(load(['stateN'])).rejects.toThrow('The model has not the outputs of Silero.')
  })
})
