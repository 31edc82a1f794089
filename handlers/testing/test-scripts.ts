import { Ajv } from 'ajv'
import type { DocumentFault } from '../handler.ts'
import { DocumentInvalid } from '../handler.ts'
import { createAgentRunner } from '../script/agent-requests.ts'
import { readScriptDocument } from '../script/document.ts'
import { createScriptHandler } from '../script/handler.ts'
import { Sandbox } from '../script/sandbox/sandbox.ts'
import { scriptSchema } from '../script/schema.ts'
import { FakeCall } from './fake-call.ts'
import { FakeContext } from './fake-context.ts'
import { FakeTimers } from './fake-timers.ts'

const ajv = new Ajv({ allowUnionTypes: true })
const accepts = ajv.compile(scriptSchema)

/** Options of a test run. */
export interface On {
  readonly call?: FakeCall
  readonly context?: FakeContext
  /** Sections besides `main`. */
  readonly sections?: Readonly<Record<string, unknown>>
}

/** Runs steps on a fake call. Its creator must close it. */
export class TestScripts {
  // Uses real threads; a test without expressions never starts them.
  readonly #sandbox = new Sandbox({ after: () => ({ cancel: () => {} }) })
  readonly timers = new FakeTimers()
  readonly handler: ReturnType<typeof createScriptHandler>
  /** Runs voice agents outside of scripts. */
  readonly runAgent: ReturnType<typeof createAgentRunner>

  /** `spaceId`: space of the scripts; empty for none. */
  constructor(spaceId = 's-1') {
    const options = { nodeId: 'n-1', spaceId, sandbox: this.#sandbox, timers: this.timers }
    this.handler = createScriptHandler(options)
    this.runAgent = createAgentRunner(options)
  }

  close(): Promise<void> {
    return this.#sandbox.close()
  }

  /** Runs the steps as `main`, to their end. */
  async run(main: readonly unknown[], on: On = {}) {
    const { call = new FakeCall(), context = new FakeContext() } = on
    const text = JSON.stringify({ version: '1.0.0', sections: { main, ...on.sections } })
    // Every script of a test must be valid by the published schema too.
    if (!accepts(JSON.parse(text))) throw new Error(ajv.errorsText(accepts.errors))
    await this.handler.run(call, { kind: 'inline', text, name: 'test' }, context)
    const warnings = context.warnings.map(({ code, path }) => `${path} ${code.replace('relay_script_', '')}`)
    return { call, context, verbs: call.verbs, names: call.names, warnings }
  }

  /** Returns the spoken form of a text with placeholders after some steps. */
  async say(text: string, steps: readonly unknown[] = [], on: On = {}): Promise<string | undefined> {
    const { verbs } = await this.run([...steps, { play: { url: `say:${text}` } }], on)
    const [, options] = verbs.findLast(([name]) => name === 'play') ?? []
    return (options as { sounds: { text: string }[] }).sounds[0]?.text
  }
}

/** Returns the events that were sent as JSON, without their common fields. */
export const eventsOf = (context: FakeContext) =>
  context.callbacks.map(({ url, method, body }) => {
    const { event_type, params } = JSON.parse(body?.text ?? '{}')
    const { call_id, node_id, segment_id, control_id, ...rest } = params ?? {}
    return { to: `${method} ${url}`, event_type, ...rest }
  })

/** Returns the faults of a document of these steps, as `path code`; empty for a valid document. */
export const faultsOf = (main: readonly unknown[], sections: object = {}): string[] =>
  faultsOfText(JSON.stringify({ sections: { main, ...sections } })).map(
    ({ path, code }) => `${path.replace('/sections/main', '')} ${code.replace('relay_script_', '')}`,
  )

/** Returns the faults of a text; empty for a valid document. */
export const faultsOfText = (text: string): readonly DocumentFault[] => {
  try {
    readScriptDocument({ text })
    return []
  } catch (error) {
    if (error instanceof DocumentInvalid) return error.faults
    throw error
  }
}
