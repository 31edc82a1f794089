import type { SteadyClock } from '../../core/clock.ts'
import { openStandIns, type StandIns } from '../../stand-ins/open-stand-ins.ts'
import { readScriptFile } from '../../stand-ins/read-script.ts'
import type { StandInScript } from '../../stand-ins/script-types.ts'
import type { Callee } from '../line/caller-phones.ts'
import type { Scenario, Target } from '../scenario/scenario.ts'
import { changedDocument, readTestDocument } from './agent-document.ts'
import { FunctionServer } from './function-server.ts'
import { domainOf, engineOf, enginesOf, gatewayConfig, standInEngines } from './gateway-config.ts'
import { GatewayProcess } from './gateway-process.ts'

/** Makes stand-ins understand a text as the next turn. Resolves with whether the text before was unused. */
export type Prompter = (text: string) => Promise<boolean>

/** Place of one caller at the agent under test. */
export interface Seat extends Callee {
  /** Key of its requests at the function server; undefined: the caller's number. */
  readonly key?: string
  /** Absent if the engines understand by themselves. */
  readonly prompt?: Prompter
}

/** Agent under test, ready for calls. */
export interface OpenTarget {
  readonly seats: readonly Seat[]
  /** Absent if no report can come. */
  readonly server?: FunctionServer
  /** Lines of the log of the test's own gateway, so far. */
  readonly log?: readonly string[]
  /** Ends everything that was started. */
  close(): Promise<void>
}

/** Files of a target that were read before anything was started. */
export type PreparedTarget = (seats: number, clock: SteadyClock) => Promise<OpenTarget>

/** Reads the files of a scenario's target. Throws ConfigInvalid or ScriptError. */
export const prepareTarget = (scenario: Scenario): PreparedTarget => {
  const { target, functions, server } = scenario
  if (target.kind === 'address')
    return async (seats, clock) => {
      const open = server && (await FunctionServer.open(functions, clock, server))
      const prompt = target.standIns === undefined ? undefined : remotePrompter(target.standIns)
      const { uri, via } = target
      const seat: Seat = { uri, ...(via !== undefined && { nextHop: via }), ...(prompt && { prompt }) }
      return {
        seats: Array.from({ length: seats }, () => seat),
        ...(open && { server: open }),
        close: async () => open?.close(),
      }
    }
  return prepareDocument(target, scenario)
}

const prepareDocument = (
  target: Extract<Target, { kind: 'document' }>,
  { functions, server: address }: Scenario,
): PreparedTarget => {
  const document = readTestDocument(target.file, functions.keys())
  const configured = target.config === undefined ? undefined : enginesOf(target.config)
  const script = target.standIns === undefined ? undefined : readScriptFile(target.standIns)
  return async (seats, clock) => {
    const closing: (() => Promise<void>)[] = []
    const close = async (): Promise<void> => {
      for (const end of closing.splice(0).reverse()) await end()
    }
    try {
      const server = await FunctionServer.open(functions, clock, address)
      closing.push(() => server.close())
      const standIns = configured ? [] : await openSeveral(seats, script, closing)
      const documents = Array.from({ length: seats }, (_, index) =>
        changedDocument(document, {
          functionsUrl: `${server.url}/caller-${index + 1}/functions`,
          functions: functions.keys(),
          reportUrl: `${server.url}/caller-${index + 1}/report`,
          ...(!configured && { engine: engineOf(index + 1) }),
        }),
      )
      const gateway = await GatewayProcess.start(
        await gatewayConfig(documents, configured ?? standInEngines(standIns), server.address),
        clock,
      )
      closing.push(() => gateway.stop())
      const seatOf = (index: number): Seat => {
        const own = standIns[index]
        return {
          uri: `sip:agent@${domainOf(index + 1)}`,
          nextHop: `sip:${gateway.sip}`,
          key: `caller-${index + 1}`,
          ...(own && { prompt: prompterOf(own) }),
        }
      }
      return { seats: documents.map((_, index) => seatOf(index)), server, log: gateway.log, close }
    } catch (error) {
      await close()
      throw error
    }
  }
}

const openSeveral = async (
  count: number,
  script: StandInScript | undefined,
  closing: (() => Promise<void>)[],
): Promise<readonly StandIns[]> => {
  const all: StandIns[] = []
  for (let at = 0; at < count; at++) {
    const standIns = await openStandIns(script && { script })
    closing.push(() => standIns.close())
    all.push(standIns)
  }
  return all
}

/** Returns the prompter of stand-ins in this process. A text that no turn took is replaced. */
const prompterOf = (standIns: Pick<StandIns, 'willHear'>): Prompter => {
  let forget: () => boolean = () => false
  return async (text) => {
    const wasUnused = forget()
    forget = standIns.willHear(text)
    return wasUnused
  }
}

/** Returns the prompter of stand-ins in another process, which do not say whether a turn took a text. */
const remotePrompter =
  (url: string): Prompter =>
  async (text) => {
    const response = await fetch(new URL('/_stand-ins/hear', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text }),
    })
    if (!response.ok) throw new Error(`${url} answered with ${response.status}`)
    return false
  }
