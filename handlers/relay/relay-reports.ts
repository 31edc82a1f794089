import type { AgentEvent } from '../verbs.ts'
import type { RelayReply } from './relay-messages.ts'
import { type InputKinds, includesKind, type RelayOptions } from './relay-types.ts'
import { SentText } from './sent-text.ts'
import type { WrittenText } from './written-text.ts'

type Of<K extends AgentEvent['kind']> = Extract<AgentEvent, { kind: K }>

/** Speech of the server, as far as reports depend on it. */
export interface PresentSpeech {
  readonly isSpeaking: boolean
  /** Input that interrupts it. */
  readonly interruptible: InputKinds
  /** Text that is spoken; undefined for a sound. */
  readonly written: WrittenText | undefined
}

/** Reports to the server: what the caller says, hears and interrupts. */
export class RelayReports {
  readonly #options: Pick<RelayOptions, 'hasPartials' | 'reported' | 'reports'>
  readonly #send: (reply: RelayReply) => void
  readonly #present: () => PresentSpeech | undefined
  /** Answer that the caller hears. */
  #speaking: string | undefined
  /** Text that the caller is hearing. */
  #utterance = ''
  /** Text of the server that the caller hears. */
  #sent: SentText | undefined
  /** End of the last speech that words could not interrupt, in ms since the epoch. */
  #protectedUntil = Number.NEGATIVE_INFINITY
  /** Latest answer that was interrupted. */
  #interrupted: Pick<Of<'answer'>, 'heard' | 'heardMs'> | undefined

  constructor(
    options: Pick<RelayOptions, 'hasPartials' | 'reported' | 'reports'>,
    send: (reply: RelayReply) => void,
    present: () => PresentSpeech | undefined,
  ) {
    this.#options = options
    this.#send = send
    this.#present = present
  }

  /** Reports a delay of the server. */
  roundTrip(ms: number): void {
    if (this.#options.reports.has('debugging')) this.#info('roundTripDelayMs', Math.round(ms))
  }

  /**
   * Reports an event of the conversation. `language`: that of the caller, if the event has none. Returns
   * whether the server has received a turn of the caller.
   */
  take(event: AgentEvent, language: string): boolean {
    switch (event.kind) {
      case 'speech':
        this.#speaker('clientSpeaking', event.state === 'began')
        break
      case 'partial':
        this.#partial(event, language)
        break
      case 'user':
        return this.#turn(event, language)
      case 'utterance':
        this.#heard(event)
        break
      case 'answer':
        this.#answered(event)
        break
      case 'barge':
        this.#barged(event)
    }
    return false
  }

  /** Reports a turn. */
  prompt(voicePrompt: string, lang: string): void {
    this.#send({ type: 'prompt', voicePrompt, lang, last: true })
  }

  /** Reports a key, unless it was pressed over speech that it does not interrupt. */
  digit(digit: string): void {
    const present = this.#present()
    const isOver = present?.isSpeaking && !includesKind(present.interruptible, 'dtmf')
    if (!isOver || includesKind(this.#options.reported, 'dtmf')) this.#send({ type: 'dtmf', digit })
  }

  #partial({ text, isBarge }: Of<'partial'>, lang: string): void {
    if (!this.#options.hasPartials || text.trim() === '') return
    const isOver = this.#present()?.isSpeaking && !isBarge
    if (isOver && !includesKind(this.#options.reported, 'speech')) return
    this.#send({ type: 'prompt', voicePrompt: text, lang, last: false })
  }

  #turn({ text, by, language, endedAt }: Of<'user'>, usual: string): boolean {
    const isOverAnswer = endedAt !== undefined && endedAt <= this.#protectedUntil
    const isDropped = isOverAnswer && !includesKind(this.#options.reported, 'speech')
    if (by !== 'speech' || isDropped) return false
    this.prompt(text, language ?? usual)
    return true
  }

  #heard({ answer, text }: Of<'utterance'>): void {
    if (this.#speaking !== answer) {
      this.#speaking = answer
      this.#utterance = ''
      this.#begin()
      this.#speaker('agentSpeaking', true)
    }
    this.#passed(this.#utterance)
    this.#utterance = text
  }

  /** An answer begins. It may speak the rest of a text, after an engine that has failed. */
  #begin(): void {
    const written = this.#present()?.written
    if (written !== this.#sent?.written) this.#sent = written && new SentText(written)
    this.#sent?.begin()
  }

  #answered({ answer, at, spoken, heard, heardMs, isBarged }: Of<'answer'>): void {
    const isFilled = spoken !== '' || heardMs > 0
    if (!isFilled) return
    if (isBarged) this.#interrupted = { heard, heardMs }
    else if (!includesKind(this.#present()?.interruptible ?? 'any', 'speech')) this.#protectedUntil = at
    if (this.#speaking !== answer) return
    if (isBarged) this.#played(this.#sent?.passTo(heard))
    else this.#passed(this.#utterance)
    this.#speaking = undefined
    this.#utterance = ''
    this.#speaker('agentSpeaking', false)
  }

  #barged({ text }: Of<'barge'>): void {
    const interrupted = this.#interrupted
    this.#interrupted = undefined
    if (text === '' || !interrupted) return
    this.#send({
      type: 'interrupt',
      utteranceUntilInterrupt: interrupted.heard,
      durationUntilInterruptMs: interrupted.heardMs,
    })
  }

  /** A piece was heard to its end. */
  #passed(piece: string): void {
    if (piece !== '') this.#played(this.#sent?.pass(piece))
  }

  /** Reports text that was heard, as it was sent. */
  #played(text = ''): void {
    if (text.trim() === '') return
    if (this.#options.reports.has('tokens-played')) this.#info('tokensPlayed', text)
  }

  #speaker(name: 'agentSpeaking' | 'clientSpeaking', isOn: boolean): void {
    if (this.#options.reports.has('speaker-events')) this.#info(name, isOn ? 'on' : 'off')
  }

  #info(name: string, value: string | number): void {
    this.#send({ type: 'info', name, value })
  }
}
