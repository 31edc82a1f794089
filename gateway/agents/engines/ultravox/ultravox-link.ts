import type { AgentMessage } from '../../../../handlers/verbs.ts'
import type { EngineAbilities, EngineCall, EngineChange } from '../../engine.ts'
import type { EngineTarget, WireMessage } from '../session/engine-socket.ts'
import { OpenCalls } from '../session/open-calls.ts'
import { Answers } from '../session/session-answers.ts'
import { SessionLink, type SessionOpening } from '../session/session-link.ts'
import { type HttpSessionDeps, requestSession, socketUrlOf } from '../session/session-request.ts'
import { textAt } from '../session/wire-values.ts'
import { callOf } from './ultravox-messages.ts'
import { type UltravoxOptions, ultravoxUrl } from './ultravox-options.ts'

const requestTimeoutMs = 8_000

/** Session with Ultravox: a request creates a call, and names the WebSocket to join. */
export class UltravoxLink extends SessionLink {
  readonly abilities: EngineAbilities
  readonly #answers: Answers
  readonly #calls = new OpenCalls()
  /** Text of the caller's turn so far. */
  #heard = ''
  /** Text of the agent's answer that was reported. */
  #spoken = ''

  constructor(
    options: UltravoxOptions,
    target: EngineTarget,
    send: HttpSessionDeps['send'],
    opening: SessionOpening,
  ) {
    const format = `pcm${options.rate ?? 8000}` as const
    super({ target, input: format, output: format }, opening)
    this.abilities = {
      turns: 'its',
      cut: 'none',
      pace: 'burst',
      isExact: false,
      changes: false,
      changesHistory: false,
      ...(options.longestMs !== undefined && { longestMs: options.longestMs }),
    }
    this.#answers = new Answers(this.listener)
    void this.connectAfter(async (signal) => {
      const { url = ultravoxUrl, key, headers } = options
      const request = {
        method: 'POST',
        url,
        headers: {
          'content-type': 'application/json',
          ...(key !== undefined && { 'x-api-key': key }),
          ...headers,
        },
        body: JSON.stringify(callOf(options, this.request)),
      } as const
      return socketUrlOf(
        await requestSession(send, request, { timeoutMs: requestTimeoutMs, signal }),
        'joinUrl',
      )
    })
  }

  /** The server has the whole configuration from the request. */
  onOpen(): void {
    this.started()
  }

  audioMessage(audio: Buffer): Buffer {
    return audio
  }

  onBinary(bytes: Buffer): void {
    this.#answerBegins()
    this.#answers.audio(this.decoder.decode(bytes))
  }

  onMessage(message: WireMessage): void {
    switch (textAt(message, 'type')) {
      case 'state':
        this.#onState(textAt(message, 'state'))
        break
      case 'transcript':
        if (textAt(message, 'role') === 'user') this.#onHeard(message)
        else this.#onSpoken(message)
        break
      case 'playback_clear_buffer':
        this.#onCleared()
        break
      case 'client_tool_invocation':
        this.#onCall(message)
    }
  }

  /** The server ends turns and answers by itself. */
  commit(): void {}

  message({ content }: AgentMessage, respond: boolean): void {
    this.#write(content, respond ? 'immediate' : 'later')
  }

  answer(instruction: string | undefined): void {
    this.#write(`(${instruction ?? 'The call has begun. Speak first.'})`, 'immediate')
  }

  say(text: string): void {
    this.#write(`(Say exactly these words, and nothing else: <<<${text}>>>)`, 'immediate')
  }

  /** The server stops by itself; what it still sends of the answer is dropped. */
  interrupt(): void {
    this.#answers.discard()
  }

  result({ id }: EngineCall, text: string, respond: boolean): void {
    if (!this.#calls.close(id)) return
    const reaction = respond ? {} : { agentReaction: 'listens' }
    this.put({ type: 'client_tool_result', invocationId: id, result: text, ...reaction })
  }

  /** Nothing can change: the conversation opens another session. */
  change(_change: EngineChange): void {}

  protected override farewell(): WireMessage {
    return { type: 'hang_up' }
  }

  #write(text: string, urgency: 'immediate' | 'later'): void {
    this.put({ type: 'user_text_message', text, urgency })
  }

  #onState(state: string | undefined): void {
    if (state === 'thinking') this.#turnEnded()
    else if (state === 'speaking') {
      this.#answers.accept()
      this.#answerBegins()
      this.#answers.begin()
    } else if (state === 'listening' || state === 'idle') {
      this.#answers.end('completed')
      this.#answers.accept()
      this.#over()
    }
  }

  #over(): void {
    this.#spoken = ''
    this.decoder.reset()
  }

  #onHeard(message: WireMessage): void {
    const text = textAt(message, 'text') ?? this.#heard + (textAt(message, 'delta') ?? '')
    // While an answer is under way, a text may be that of the turn before it, and begins no turn.
    const isLate = this.#answers.current !== undefined
    if (this.#heard === '' && text !== '' && !isLate) this.listener.onTurn('began')
    this.#heard = text
    if (text === '') return
    if (message.final !== true) this.listener.onHeard({ text, isFinal: false })
    else if (isLate) this.#heardAll()
    else this.#turnEnded()
  }

  #turnEnded(): void {
    if (this.#answers.current === undefined && this.#heardAll()) this.listener.onTurn('ended')
  }

  /** The begin of an answer ends the caller's turn, unless its end was reported. */
  #answerBegins(): void {
    if (this.#answers.current === undefined && this.#heardAll()) this.listener.onTurn('ended', true)
  }

  /** Reports the text so far as final. Returns false for an empty one. */
  #heardAll(): boolean {
    const text = this.#heard.trim()
    this.#heard = ''
    if (text !== '') this.listener.onHeard({ text, isFinal: true })
    return text !== ''
  }

  /** A transcript is a piece, or the whole text so far: only the new part is reported. */
  #onSpoken(message: WireMessage): void {
    const whole = textAt(message, 'text')
    const piece =
      whole === undefined
        ? (textAt(message, 'delta') ?? '')
        : whole.startsWith(this.#spoken)
          ? whole.slice(this.#spoken.length)
          : ''
    this.#spoken += piece
    this.#answers.text(piece)
  }

  #onCleared(): void {
    const isKnown = this.#answers.isDiscarding
    this.#answers.end('cancelled')
    this.#answers.accept()
    this.#over()
    if (!isKnown) this.listener.onInterrupted()
  }

  /** The answer ends with its call; the next one follows the result. */
  #onCall(message: WireMessage): void {
    const id = textAt(message, 'invocationId')
    if (id === undefined || !this.#calls.open(id)) return
    if (this.#answers.isDiscarding) {
      // The server waits for a result of every call, also of those that are not made.
      this.#calls.close(id)
      this.put({ type: 'client_tool_result', invocationId: id, result: 'cancelled' })
      return
    }
    this.#answerBegins()
    const args = JSON.stringify(message.parameters ?? {})
    this.listener.onCall(this.#answers.begin(), { id, name: textAt(message, 'toolName') ?? '', args })
    this.#answers.end('completed')
    this.#over()
  }
}
