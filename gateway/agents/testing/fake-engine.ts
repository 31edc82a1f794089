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

const abilities: EngineAbilities = { turns: 'ours', cut: 'note', pace: 'burst', isExact: true, changes: true }

/** Session of a {@link FakeEngine}: records its commands, and lets a test act as the engine by `listener`. */
export class FakeLink implements EngineLink {
  readonly abilities: EngineAbilities
  readonly inputRate: PcmRate = 8000
  readonly outputRate: PcmRate = 8000
  readonly request: EngineRequest
  readonly listener: EngineListener
  /** Commands in order, as name and arguments. */
  readonly commands: unknown[][] = []
  heardFrames = 0
  isClosed = false

  constructor(request: EngineRequest, listener: EngineListener, changed: Partial<EngineAbilities>) {
    this.request = request
    this.listener = listener
    this.abilities = { ...abilities, ...changed }
  }

  hear(): void {
    this.heardFrames++
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
  readonly #abilities: Partial<EngineAbilities>

  constructor(name = 'fake', changed: Partial<EngineAbilities> = {}) {
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
