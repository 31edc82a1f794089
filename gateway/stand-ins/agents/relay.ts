import { deltasOf } from '../deltas.ts'
import type { OfferedFunction, Trigger } from '../dialogue.ts'
import { type InjectedQuirk, type Performer, perform, type ScriptedCall, type Speech } from '../perform.ts'
import type { ErrorKind, QuirkName } from '../script-types.ts'
import { errorFacts, type SocketCall, type SocketEngine } from '../stand.ts'

/** Length of a spoken word in ms, for the position of a cut in a text. */
const wordMs = 400

/** Functions that end a session: the gateway's document goes on. */
const functions: readonly OfferedFunction[] = [{ name: 'hangup' }, { name: 'transfer' }]

/**
 * Text server for `<ConversationRelay>`: it is no engine, but a server of a customer. Functions of the script
 * end the session, with their name and arguments for the action of the document.
 */
export const relay: SocketEngine = {
  name: 'relay',
  serves: (path) => path === '/relay',
  open: (call) => new RelayTalk(call),
}

type Message = Readonly<Record<string, unknown>>

class RelayTalk {
  readonly #call: SocketCall
  #turn = 0
  #isInterrupted = false
  /** Ends the answer in progress. */
  #answer = new AbortController()

  constructor(call: SocketCall) {
    this.#call = call
    call.socket.listen({
      onMessage: (message) => this.#read(message),
      onClosed: () => this.#answer.abort(),
    })
  }

  #read({ type, voicePrompt, last, digit }: Message): void {
    if (type === 'setup') this.#respond({ on: 'begin' })
    if (type === 'prompt' && last === true) this.#turnOf(String(voicePrompt))
    if (type === 'dtmf') this.#turnOf(String(digit))
    if (type !== 'interrupt') return
    this.#answer.abort()
    this.#isInterrupted = true
  }

  #turnOf(text: string): void {
    const isInterruption = this.#isInterrupted
    this.#isInterrupted = false
    this.#respond({ on: 'turn', turn: ++this.#turn, text, isInterruption })
  }

  #respond(trigger: Trigger): void {
    const { stand, socket } = this.#call
    this.#answer.abort()
    this.#answer = new AbortController()
    const chosen = stand.dialogue.choose('relay', trigger, functions)
    if (!chosen) return
    void perform(chosen, new RelayPerformer(this.#call), stand, this.#answer.signal).catch(() =>
      socket.close(1011),
    )
  }
}

/** Carries out an answer as messages of text. */
class RelayPerformer implements Performer {
  readonly quirks = new Set<QuirkName>()
  readonly #call: SocketCall

  constructor(call: SocketCall) {
    this.#call = call
  }

  async say({ text, cutMs = Number.POSITIVE_INFINITY }: Speech, signal: AbortSignal): Promise<void> {
    const words = deltasOf(text)
    for (const token of words.slice(0, Math.ceil(cutMs / wordMs)))
      if (!signal.aborted) this.#call.socket.send({ type: 'text', token, last: false })
    if (Number.isFinite(cutMs) || signal.aborted) return
    this.#call.socket.send({ type: 'text', token: '', last: true })
  }

  call({ name, args }: ScriptedCall): void {
    const handoffData = `{"function":${JSON.stringify(name)},"arguments":${args}}`
    this.#call.socket.send({ type: 'end', handoffData })
  }

  inject(quirk: InjectedQuirk): void {
    const { socket } = this.#call
    if (quirk === 'malformed') socket.sendText('{"type":"text","token":', 'malformed')
    if (quirk === 'unknown') socket.send({ type: 'unknown' })
    if (quirk === 'huge') socket.send({ type: 'text', token: 'a'.repeat(10 * 1024 * 1024), last: true })
  }

  /** Has no message for errors: closes with the code of an internal error. */
  error(kind: ErrorKind): void {
    this.#call.socket.close(1011, errorFacts[kind].code)
  }

  close(how: number | 'abrupt'): void {
    this.#call.socket.close(how)
  }

  stall(): void {
    this.#call.socket.stall()
  }
}
