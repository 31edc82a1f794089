import { isJsonObject } from '../../core/json.ts'
import type { AudioFormat } from '../audio-format.ts'
import { deltasOf } from '../deltas.ts'
import type { ChosenAnswer, OfferedFunction, Trigger } from '../dialogue.ts'
import { Hearing } from '../hearing.ts'
import { type InjectedQuirk, type Performer, perform, type ScriptedCall, type Speech } from '../perform.ts'
import { quotedText } from '../quoted-text.ts'
import { idOf } from '../realtime/realtime-answer.ts'
import type { ErrorKind, QuirkName } from '../script-types.ts'
import { errorFacts, type SocketCall } from '../stand.ts'

/** Silence that ends a turn, in ms. */
const silenceMs = 500
/** Interval of usage reports, in ms of audio. */
const usageMs = 10_000

type Send = (message: Readonly<Record<string, unknown>> & { readonly type: string }) => void

/** Speech that waits for the time at which it is heard. */
interface QueuedSpeech {
  readonly samples: Int16Array
  readonly words: readonly string[]
  at: number
  spoken: number
  readonly done: () => void
}

/**
 * Voice of OpenAI Live. Its clock is the audio of the caller: as much as is heard is spoken, mostly
 * silence. Speech of the caller ends the answer.
 */
export class LiveSpeaker implements Performer {
  functions: readonly OfferedFunction[] = []
  /** Place of the functions; undefined: the session delegates nothing. */
  target: 'client' | 'responses' | undefined
  nowMs = 0
  readonly quirks = new Set<QuirkName>()
  readonly #call: SocketCall
  readonly #format: AudioFormat
  readonly #send: Send
  readonly #hearing: Hearing
  #queue: QueuedSpeech[] = []
  #answering = new AbortController()
  #run = Promise.resolve()
  #turn = 0
  #isInterruption = false
  #calls = new Map<string, string>()
  #result: { readonly name: string; readonly result: string } | undefined

  constructor(call: SocketCall, format: AudioFormat, send: Send) {
    this.#call = call
    this.#format = format
    this.#send = send
    this.#hearing = new Hearing(
      { rate: format.rate, silenceMs, texts: call.stand.texts() },
      {
        onStarted: () => this.#interrupt(),
        onStopped: ({ text, speechMs, startMs, endMs }) => {
          for (const delta of deltasOf(text))
            send({ type: 'session.input_transcript.delta', delta, start_ms: startMs, end_ms: endMs })
          const isInterruption = this.#isInterruption
          this.#answer({ on: 'turn', turn: ++this.#turn, text, speechMs, isInterruption })
        },
      },
    )
  }

  hear(samples: Int16Array): void {
    this.#hearing.feed(samples)
  }

  /** Returns the next samples: speech that waits, or silence. */
  take(count: number): Int16Array {
    const out = new Int16Array(count)
    for (let at = 0; at < count; ) {
      const [speech] = this.#queue
      if (!speech) break
      const part = speech.samples.subarray(speech.at, speech.at + count - at)
      out.set(part, at)
      at += part.length
      speech.at += part.length
      this.#transcribe(speech, (part.length / this.#format.rate) * 1000)
      if (speech.at < speech.samples.length) continue
      this.#queue.shift()
      speech.done()
    }
    return out
  }

  #transcribe(speech: QueuedSpeech, partMs: number): void {
    const { words, at, samples } = speech
    for (; speech.spoken < Math.ceil((words.length * at) / samples.length); speech.spoken++) {
      const delta = words[speech.spoken]
      const times = { start_ms: Math.round(this.nowMs), end_ms: Math.round(this.nowMs + partMs) }
      this.#send({ type: 'session.output_transcript.delta', delta, ...times })
    }
  }

  /** Advances the clock of the session. */
  elapsed(ms: number): void {
    const before = Math.floor(this.nowMs / usageMs)
    this.nowMs += ms
    if (Math.floor(this.nowMs / usageMs) === before) return
    const usage = { seconds: Math.round(this.nowMs / 1000) }
    this.#send({ type: 'session.usage.updated', usage, context_window: { usage_ratio: 0.1 } })
  }

  /** Speaks a comment of the client, after what waits. Marked words are spoken as they are. */
  comment(content: string): void {
    const say = { kind: 'say', text: '{{text}}', sound: { kind: 'speech' } } as const
    this.#carryOut({ actions: [say], variables: { text: quotedText(content) ?? content }, functions: [] })
  }

  /** Reads the result of a function, under delegation to responses. */
  readItem(item: unknown): void {
    if (!isJsonObject(item) || item.type !== 'function_call_output') return
    const name = this.#calls.get(String(item.call_id))
    if (name !== undefined) this.#result = { name, result: String(item.output) }
  }

  /** Answers the last result. */
  answerResults(): void {
    if (this.#result) this.#answer({ on: 'result', turn: this.#turn, ...this.#result })
    this.#result = undefined
  }

  /** Ends what is under way, because the connection is closed. */
  end(): void {
    this.#interrupt()
  }

  #interrupt(): void {
    this.#isInterruption = this.#queue.length > 0
    this.#answering.abort()
    this.#answering = new AbortController()
    for (const { done } of this.#queue.splice(0)) done()
  }

  #answer(trigger: Trigger): void {
    const chosen = this.#call.stand.dialogue.choose('live', trigger, this.functions)
    if (chosen) this.#carryOut(chosen)
  }

  #carryOut(chosen: ChosenAnswer): void {
    const { signal } = this.#answering
    this.#run = this.#run
      .then(() => perform(chosen, this, this.#call.stand, signal))
      .catch(() => this.error('server'))
  }

  async say(speech: Speech, signal: AbortSignal): Promise<void> {
    const { rate } = this.#format
    const whole = await speech.samples(rate)
    const samples = speech.cutMs === undefined ? whole : whole.subarray(0, (speech.cutMs * rate) / 1000)
    if (signal.aborted || samples.length === 0) return
    const words = deltasOf(speech.text)
    await new Promise<void>((done) => this.#queue.push({ samples, words, at: 0, spoken: 0, done }))
  }

  call({ id, name, args }: ScriptedCall): void {
    if (!this.target) return
    const delegation = { id: idOf('dlg'), type: 'delegation', target: this.target }
    this.#send({ type: 'session.delegation.created', delegation, offset_ms: Math.round(this.nowMs) })
    if (this.target === 'client') return
    this.#calls.set(id, name)
    const item = {
      type: 'function_call',
      id: idOf('fc'),
      call_id: id,
      name,
      arguments: args,
      status: 'completed',
    }
    const event = { type: 'response.output_item.done', output_index: 0, item }
    this.#send({ type: 'response.event', delegation_id: delegation.id, event })
    this.#send({
      type: 'response.event',
      delegation_id: delegation.id,
      event: { type: 'response.completed' },
    })
  }

  inject(quirk: InjectedQuirk): void {
    const { socket } = this.#call
    if (quirk === 'malformed') socket.sendText('{"type":"session.output_audio.delta","delta":', quirk)
    if (quirk === 'unknown') this.#send({ type: 'session.stand_in.unknown' })
    if (quirk === 'huge') this.#send({ type: 'info', message: 'a'.repeat(10 * 1024 * 1024) })
  }

  error(kind: ErrorKind): void {
    const { code, text } = errorFacts[kind]
    const type = kind === 'server' ? 'server_error' : 'invalid_request_error'
    this.#send({ type: 'error', error: { type, code, message: text, param: null } })
  }

  close(how: number | 'abrupt'): void {
    this.#call.socket.close(how)
  }

  stall(): void {
    this.#call.socket.stall()
  }
}
