import { Ajv } from 'ajv'
import { FakeCall } from '../common/fake-call.ts'
import { FakeContext } from '../common/fake-context.ts'
import type { DocumentFault } from '../handler.ts'
import { DocumentInvalid } from '../handler.ts'
import { readScriptDocument } from './document.ts'
import { createScriptHandler } from './handler.ts'
import { Sandbox } from './sandbox/sandbox.ts'
import { scriptSchema } from './schema.ts'

const ajv = new Ajv({ allowUnionTypes: true })
const accepts = ajv.compile(scriptSchema)

/** What a test runs steps on, and what is beside them. */
export interface On {
  readonly call?: FakeCall
  readonly context?: FakeContext
  /** Sections besides `main`. */
  readonly sections?: Readonly<Record<string, unknown>>
}

/** Runs steps on a fake call; whoever makes it closes it. */
export class TestScripts {
  // Real threads, which a test that evaluates nothing never starts.
  readonly #sandbox = new Sandbox({ after: () => ({ cancel: () => {} }) })
  readonly handler = createScriptHandler({ nodeId: 'n-1', spaceId: 's-1', sandbox: this.#sandbox })

  close(): Promise<void> {
    return this.#sandbox.close()
  }

  /** Runs the steps of `main` to their end. */
  async run(main: readonly unknown[], on: On = {}) {
    const { call = new FakeCall(), context = new FakeContext() } = on
    const text = JSON.stringify({ version: '1.0.0', sections: { main, ...on.sections } })
    // What runs here is right by the published schema too.
    if (!accepts(JSON.parse(text))) throw new Error(ajv.errorsText(accepts.errors))
    await this.handler.run(call, { kind: 'inline', text, name: 'test' }, context)
    const warnings = context.warnings.map(({ code, path }) => `${path} ${code.replace('relay_script_', '')}`)
    return { call, context, verbs: call.verbs, names: call.names, warnings }
  }

  /** What a text with placeholders is spoken as, after some steps. */
  async say(text: string, steps: readonly unknown[] = [], on: On = {}): Promise<string | undefined> {
    const { verbs } = await this.run([...steps, { play: { url: `say:${text}` } }], on)
    const [, options] = verbs.findLast(([name]) => name === 'play') ?? []
    return (options as { sounds: { text: string }[] }).sounds[0]?.text
  }
}

/** The events that were sent as JSON, without what all of them have in common. */
export const eventsOf = (context: FakeContext) =>
  context.callbacks.map(({ url, method, body }) => {
    const { event_type, params } = JSON.parse(body?.text ?? '{}')
    const { call_id, node_id, segment_id, control_id, ...rest } = params ?? {}
    return { to: `${method} ${url}`, event_type, ...rest }
  })

/** The faults of a document of these steps, as `path code`; empty where it may run. */
export const faultsOf = (main: readonly unknown[], sections: object = {}): string[] =>
  faultsOfText(JSON.stringify({ sections: { main, ...sections } })).map(
    ({ path, code }) => `${path.replace('/sections/main', '')} ${code.replace('relay_script_', '')}`,
  )

/** The faults of a text; empty where it may run. */
export const faultsOfText = (text: string): readonly DocumentFault[] => {
  try {
    readScriptDocument({ text })
    return []
  } catch (error) {
    if (error instanceof DocumentInvalid) return error.faults
    throw error
  }
}
