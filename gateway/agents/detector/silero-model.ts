/** Samples of a window at 8 kHz, and those of the window before that the model takes with it. */
const windowSamples = 256
const contextSamples = 32
/** Shape of the model's state. */
const stateShape = [2, 1, 128] as const
const stateSize = 256
const fullScale = 32_768

/** Value of a model: an array of numbers with its shape. */
export interface Tensor {
  readonly data: ArrayLike<number | bigint>
}

/** Session of a runtime that holds one model. */
export interface ModelSession {
  run(inputs: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>
}

/** Interface of `onnxruntime-node` and `onnxruntime-web`, as far as it is used. */
export interface ModelRuntime {
  readonly Tensor: new (
    type: 'float32' | 'int64',
    data: Float32Array | BigInt64Array,
    shape: readonly number[],
  ) => Tensor
  readonly InferenceSession: {
    create(model: Uint8Array, options: Readonly<Record<string, unknown>>): Promise<ModelSession>
  }
  readonly env?: { readonly wasm?: { numThreads?: number } }
}

/** Options of a session: one thread, since a window takes less than a millisecond. */
const sessionOptions = {
  intraOpNumThreads: 1,
  interOpNumThreads: 1,
  executionMode: 'sequential',
  enableCpuMemArena: false,
  logSeverityLevel: 3,
}

/** Runs the model on one window. */
type RunWindow = (
  input: Float32Array,
  state: Tensor,
) => Promise<{ readonly probability: number; readonly state: Tensor }>

/**
 * Silero's model of voice activity, version 5 or 6, at 8 kHz. Inputs: `input` [1, 288], `state` [2, 1, 128],
 * `sr`; outputs: `output`, `stateN`.
 */
export class SileroModel {
  readonly #runtime: ModelRuntime
  readonly #session: ModelSession
  readonly #rate: Tensor

  private constructor(runtime: ModelRuntime, session: ModelSession) {
    this.#runtime = runtime
    this.#session = session
    this.#rate = new runtime.Tensor('int64', BigInt64Array.of(8000n), [])
  }

  /** Loads a model, and runs it once on silence. Rejects if it is no such model. */
  static async load(runtime: ModelRuntime, model: Uint8Array): Promise<SileroModel> {
    if (runtime.env?.wasm) runtime.env.wasm.numThreads = 1
    const loaded = new SileroModel(runtime, await runtime.InferenceSession.create(model, sessionOptions))
    await loaded.open().hear(new Int16Array(windowSamples))
    return loaded
  }

  /** Begins the audio of one sound. */
  open(): SileroSound {
    return new SileroSound((input, state) => this.#run(input, state), this.#newState())
  }

  #newState(): Tensor {
    return new this.#runtime.Tensor('float32', new Float32Array(stateSize), stateShape)
  }

  async #run(samples: Float32Array, state: Tensor): ReturnType<RunWindow> {
    const input = new this.#runtime.Tensor('float32', samples, [1, samples.length])
    const { output, stateN } = await this.#session.run({ input, state, sr: this.#rate })
    const probability = Number(output?.data[0])
    if (!stateN || Number.isNaN(probability)) throw new Error('The model has not the outputs of Silero.')
    return { probability, state: stateN }
  }
}

/** Audio of one sound on its way through the model. Calls of {@link hear} must not overlap. */
export class SileroSound {
  readonly #run: RunWindow
  #state: Tensor
  /** Context, and the samples of the next window so far. */
  #input = new Float32Array(contextSamples + windowSamples)
  #filled = contextSamples

  constructor(run: RunWindow, state: Tensor) {
    this.#run = run
    this.#state = state
  }

  /** Adds samples. Resolves with the probability of each window that they complete. */
  async hear(samples: Int16Array): Promise<number[]> {
    const found: number[] = []
    for (const sample of samples) {
      this.#input[this.#filled++] = sample / fullScale
      if (this.#filled === this.#input.length) found.push(await this.#window())
    }
    return found
  }

  async #window(): Promise<number> {
    const { probability, state } = await this.#run(this.#input, this.#state)
    this.#state = state
    const next = new Float32Array(this.#input.length)
    next.set(this.#input.subarray(-contextSamples))
    this.#input = next
    this.#filled = contextSamples
    return probability
  }
}
