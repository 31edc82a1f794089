import type { AgentMessage } from '../../../handlers/verbs.ts'
import type { PcmRate } from '../../../media/types.ts'
import type {
  Engine,
  EngineAbilities,
  EngineCall,
  EngineChange,
  EngineHeard,
  EngineLink,
  EngineListener,
  EngineRequest,
} from '../engine.ts'

const abilities: EngineAbilities = {
  turns: 'ours',
  cut: 'note',
  pace: 'burst',
  isExact: true,
  changes: true,
  changesHistory: true,
}

/** Abilities that differ from those of the usual engine, and the sample rate in Hz; default 8000. */
export interface FakeAbilities extends Partial<EngineAbilities> {
  readonly rate?: PcmRate
}

/** Session of a {@link FakeEngine}: records its commands, and lets a test act as the engine by `listener`. */
export class FakeLink implements EngineLink {
  readonly abilities: EngineAbilities
  readonly inputRate: PcmRate
  readonly outputRate: PcmRate
  readonly request: EngineRequest
  readonly listener: EngineListener
  /** Commands in order, as name and arguments. */
  readonly commands: unknown[][] = []
  /** Loudest sample of each frame that it heard. */
  readonly heard: number[] = []
  isClosed = false

  constructor(request: EngineRequest, listener: EngineListener, changed: FakeAbilities) {
    const { rate = 8000, ...others } = changed
    this.request = request
    this.listener = listener
    this.inputRate = rate
    this.outputRate = rate
    this.abilities = { ...abilities, ...others }
  }

  /** Begins an answer with one item, whose audio lasts `ms`, and ends it. */
  answers(id: string, text: string, ms = 1000): void {
    this.begins(id, text, ms)
    this.listener.onItemEnd(id, `${id}.1`)
    this.listener.onAnswerEnd(id, 'completed')
  }

  /** Begins an answer with one item, whose audio so far lasts `ms`. */
  begins(id: string, text: string, ms = 1000): void {
    this.listener.onAnswer(id)
    this.listener.onText(id, `${id}.1`, text)
    this.listener.onAudio(id, `${id}.1`, new Int16Array((this.outputRate * ms) / 1000))
  }

  /** Commands of these names. */
  commandsOf(...names: string[]): unknown[][] {
    return this.commands.filter(([name]) => names.includes(String(name)))
  }

  hear(samples: Int16Array): void {
    this.heard.push(samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0))
  }

  commit(text: string): void {
    this.commands.push(['commit', text])
  }

  prepare(text: string): void {
    this.commands.push(['prepare', text])
  }

  message(message: AgentMessage, respond: boolean): void {
    this.commands.push(['message', message.role, message.content, respond])
  }

  answer(instruction: string | undefined): void {
    this.commands.push(['answer', instruction])
  }

  say(text: string): void {
    this.commands.push(['say', text])
  }

  speak(...args: Parameters<NonNullable<EngineLink['speak']>>): void {
    this.commands.push(['speak', ...args])
  }

  interrupt(heard: EngineHeard | undefined, isForgotten: boolean): void {
    this.commands.push(['interrupt', heard, isForgotten])
  }

  result(call: EngineCall, text: string, respond: boolean): void {
    this.commands.push(['result', call.id, text, respond])
  }

  change(change: EngineChange): void {
    this.commands.push(['change', change])
  }

  close(): void {
    this.isClosed = true
  }
}

/** Engine whose sessions a test drives. */
export class FakeEngine implements Engine {
  readonly name: string
  readonly kind = 'fake'
  readonly links: FakeLink[] = []
  readonly #abilities: FakeAbilities

  constructor(name = 'fake', changed: FakeAbilities = {}) {
    this.name = name
    this.#abilities = changed
  }

  /** Latest session. */
  get link(): FakeLink {
    const link = this.links.at(-1)
    if (!link) throw new Error('The engine has no session.')
    return link
  }

  open(request: EngineRequest, listener: EngineListener): EngineLink {
    const link = new FakeLink(request, listener, this.#abilities)
    this.links.push(link)
    return link
  }

  async close(): Promise<void> {}
}
