import type { FakeAgent } from '../../testing/fake-agent.ts'
import { FakeCall } from '../../testing/fake-call.ts'
import { FakeContext } from '../../testing/fake-context.ts'
import { FakeTimers, settle } from '../../testing/fake-timers.ts'
import type { CallInfo } from '../../verbs.ts'
import { readAgent } from '../document.ts'
import {
  type ActionResult,
  type AgentHost,
  type AgentMemory,
  AgentSession,
  type SessionEnd,
} from '../session.ts'

/** URL of functions in tests. */
export const functionsUrl = 'https://x.example/swaig'

/** Returns a function of a document of tests. */
export const functionOf = (name: string, more: object = {}) => ({
  function: name,
  description: `Does ${name}.`,
  parameters: { type: 'object', properties: {} },
  ...more,
})

/** Session of tests with a fake call, context, time and script. */
export class SessionRig {
  readonly call: FakeCall
  readonly context = new FakeContext()
  readonly timers = new FakeTimers()
  readonly memory: AgentMemory = {}
  readonly warnings: string[] = []
  /** Documents that actions ran on the call. */
  readonly ran: unknown[] = []
  /** Destinations that were left for, with their parameters. */
  readonly left: unknown[] = []
  /** Result of documents that run. */
  result: ActionResult | Promise<ActionResult> = { hasLeft: false }
  /** Ends the document that runs; set by the test. */
  finishAction: (() => void) | undefined
  /** Failure of a destination; undefined: none. */
  refusal: Error | undefined
  /** End of the session. */
  end: SessionEnd | Error | undefined
  session: AgentSession | undefined

  constructor(info: Partial<CallInfo> = {}) {
    this.call = new FakeCall(info)
  }

  get host(): AgentHost {
    const { call, context, timers, memory } = this
    return {
      call,
      context,
      timers,
      memory,
      spaceId: 's-1',
      variables: { vars: { shop: 'Main' }, call: { call_id: 'c-1' } },
      warn: (message) => void this.warnings.push(message),
      matches: async (pattern, _, text) => text.includes(pattern),
      run: async (document) => {
        this.ran.push(document)
        return this.result
      },
      leave: async (to, params) => {
        if (this.refusal) throw this.refusal
        this.left.push([to, params])
      },
    }
  }

  /** Starts the agent of a document. Its conversation waits for the test. */
  async start(document: object): Promise<FakeAgent> {
    const { document: read, faults } = readAgent({ prompt: { text: 'Help.' }, ...document })
    if (!read) throw new Error(JSON.stringify(faults))
    this.call.talks.push(() => {})
    this.session = new AgentSession(read, this.host)
    void this.session.run().then(
      (end) => {
        this.end = end
      },
      (error: Error) => {
        this.end = error
      },
    )
    await settle()
    const [agent] = this.call.agents
    if (!agent) throw new Error(String(this.end))
    return agent
  }

  /** Starts an agent with one function, whose server replies as given. */
  startWith(reply: unknown, document: object = {}, more: object = {}): Promise<FakeAgent> {
    this.reply(reply)
    const functions = [functionOf('book', { meta_data_token: 't', ...more })]
    return this.start({ SWAIG: { defaults: { web_hook_url: functionsUrl }, functions }, ...document })
  }

  /** Sets the reply of the functions' server. */
  reply(reply: unknown): void {
    this.context.documents[functionsUrl] =
      reply instanceof Error ? reply : typeof reply === 'string' ? reply : JSON.stringify(reply)
  }

  /** Bodies of the requests to the functions' server. */
  get asked(): readonly Readonly<Record<string, unknown>>[] {
    return this.context.requests.map(({ body }) => JSON.parse(body?.text ?? '{}'))
  }

  /** Callbacks that were queued, by kind. */
  sent(kind: string): readonly Readonly<Record<string, unknown>>[] {
    return this.context.callbacks.flatMap((of) =>
      of.kind === kind ? [JSON.parse(of.body?.text ?? '{}')] : [],
    )
  }
}
