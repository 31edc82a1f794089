import type { PcmRate } from '../../../../media/types.ts'
import type { SteadyClock } from '../../../core/clock.ts'
import type { Engine, EngineListener, EngineRequest } from '../../engine.ts'
import type { Model } from '../../models/model.ts'
import { ModelLine } from '../../models/model-line.ts'
import type { AgentRecogniser } from '../../recognisers/recogniser.ts'
import { PipelineLink } from './pipeline-link.ts'
import type { VoiceChoices } from './session-voice.ts'

/** Options of a {@link PipelineEngine}. Lists have at least one entry, in order of preference. */
export interface PipelineOptions extends VoiceChoices {
  /** Name in the configuration. */
  readonly name: string
  readonly recognisers: readonly AgentRecogniser[]
  readonly models: readonly Model[]
  readonly clock: SteadyClock
  /** Sample rate in Hz of the audio in both directions; default 16,000. */
  readonly rate?: PcmRate
}

/**
 * Engine of separate parts: a recogniser, a language model and a voice. The conversation decides about turns.
 * The parts belong to the caller, who may share them between engines, and are not closed with it.
 */
export class PipelineEngine implements Engine {
  readonly name: string
  readonly kind = 'pipeline'
  readonly #options: PipelineOptions
  readonly #model: Model
  readonly #links = new Set<PipelineLink>()

  /** Throws an Error if a list is empty. */
  constructor(options: PipelineOptions) {
    for (const part of ['recognisers', 'models', 'voices'] as const)
      if (options[part].length === 0) throw new Error(`${part}: at least one expected`)
    this.name = options.name
    this.#options = options
    this.#model = new ModelLine(options.models, options.clock)
  }

  /** Number of sessions. */
  get running(): number {
    return this.#links.size
  }

  open(request: EngineRequest, listener: EngineListener): PipelineLink {
    const parts = { ...this.#options, model: this.#model }
    const link = new PipelineLink(parts, request, listener, () => this.#links.delete(link))
    this.#links.add(link)
    link.begin()
    return link
  }

  async close(): Promise<void> {
    for (const link of this.#links) link.close()
  }
}
