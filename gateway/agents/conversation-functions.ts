import type { AgentOptions } from '../../handlers/verbs.ts'
import type { AgentSettings } from './agent-settings.ts'
import type { AgentSpeech } from './agent-speech.ts'
import type { ConversationRecord } from './conversation-record.ts'
import type { EngineCall } from './engine.ts'
import type { EngineLine } from './engine-line.ts'
import type { FunctionHost, FunctionRules } from './functions.ts'
import type { Turns } from './turns/turns.ts'

/** Returns the rules by which functions run. `timeoutMs`: longest duration of a function. */
export const functionRules = (
  { runFunction }: Pick<AgentOptions, 'runFunction'>,
  settings: AgentSettings,
  timeoutMs: number,
): FunctionRules => ({
  run: (call, signal) => runFunction(call, signal),
  isKnown: (name) => settings.functionNamed(name) !== undefined,
  timeoutMs,
  canInterrupt: () => settings.turns.bargeFunctions,
})

/** Functions of a conversation, on their way to the turns, the record and the engine. */
export class FunctionCalls implements Omit<FunctionHost, 'beforeStart'> {
  readonly #line: EngineLine
  readonly #speech: AgentSpeech
  readonly #record: ConversationRecord
  readonly #turns: Turns

  constructor(line: EngineLine, speech: AgentSpeech, record: ConversationRecord, turns: Turns) {
    this.#line = line
    this.#speech = speech
    this.#record = record
    this.#turns = turns
  }

  /** The engine may answer the result, but nothing is said after the last words. */
  answer(call: EngineCall, { text, kept, respond }: Parameters<FunctionHost['answer']>[1]): void {
    const isAnswered = respond && !this.#isLeaving
    this.#record.transcript.result(call, kept ?? text)
    this.#line.do((link) => {
      if (isAnswered) this.#speech.await(link)
      this.#line.result(call, text, isAnswered)
    })
  }

  report(event: Parameters<FunctionHost['report']>[0]): void {
    this.#record.emit(event)
  }

  began(id: string, call: EngineCall): void {
    this.#line.called(call)
    this.#turns.functionBegan(id)
  }

  ended(id: string, isAnswered: boolean): void {
    this.#turns.functionEnded(id, isAnswered && !this.#isLeaving)
  }

  get #isLeaving(): boolean {
    return this.#turns.state === 'leaving'
  }
}
