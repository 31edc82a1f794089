import type { AgentCommand, AgentEnd, AgentMessage, CallAgent } from '../../../handlers/verbs.ts'

/** Running agent that writes down what it is asked to do, as one text for each. */
export class FakeAgent implements CallAgent {
  readonly id = 'agent-1'
  readonly log: string[] = []
  readonly ended: Promise<AgentEnd>
  #end: (end: AgentEnd) => void = () => {}
  #silence = Promise.withResolvers<void>()

  constructor() {
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  /** Ends the present answer. */
  fallSilent(): void {
    this.#silence.resolve()
    this.#silence = Promise.withResolvers()
  }

  change(): void {}

  message({ role, content }: AgentMessage, respond: boolean): void {
    this.log.push(`${respond ? 'answer' : 'note'} ${role}: ${content}`)
  }

  async say(text: string): Promise<void> {
    this.log.push(`say ${text}`)
  }

  quiet(): Promise<void> {
    return this.#silence.promise
  }

  hold(ms?: number): void {
    this.log.push(`hold ${ms}`)
  }

  unhold(): void {
    this.log.push('unhold')
  }

  waitForUser(): void {}

  command(command: AgentCommand): boolean {
    this.log.push(`command ${JSON.stringify(command)}`)
    return true
  }

  background(): void {}

  stop(): void {
    this.log.push('stop')
    this.#end({ kind: 'stopped' })
  }
}
