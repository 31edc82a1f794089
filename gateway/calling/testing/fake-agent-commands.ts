import type { AgentCommands } from '../../../handlers/verbs.ts'

/** Commands to an agent that only keep what they were given. */
export class FakeAgentCommands implements AgentCommands {
  /** Name and arguments of each command. */
  readonly did: (readonly unknown[])[] = []

  message(...args: Parameters<AgentCommands['message']>): void {
    this.did.push(['message', ...args])
  }

  hold(seconds: number, prompt?: string): void {
    this.did.push(['hold', seconds, prompt])
  }

  unhold(prompt?: string): void {
    this.did.push(['unhold', prompt])
  }

  stop(): void {
    this.did.push(['stop'])
  }
}
