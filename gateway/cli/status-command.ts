import { duration, partyOf } from '../core/readable-log.ts'
import type { CallBody } from '../operator/call-list.ts'
import type { RefusalBody } from '../operator/operator.ts'
import type { StatusBody } from '../operator/status.ts'
import { gatewayExit, printBody, requestGateway } from './gateway-request.ts'
import { textTable } from './text-table.ts'

/** `trunkline status`. Returns 0 if the gateway is healthy, 1 if it is degraded, and 3 if it does not run. */
export const printStatus = async (file: string, json: boolean): Promise<number> => {
  const response = await requestGateway<StatusBody>(file, { command: 'status' })
  if (response.kind === 'failed') return response.exitCode
  printBody(response.body, json, statusLines)
  return response.body.health === 'healthy' ? gatewayExit.done : gatewayExit.failed
}

/** `trunkline calls`. */
export const printCalls = async (file: string, json: boolean): Promise<number> => {
  const response = await requestGateway<{ readonly calls: readonly CallBody[] }>(file, { command: 'calls' })
  if (response.kind === 'failed') return response.exitCode
  // The response also has the calls that ended, for `--follow`.
  printBody({ calls: response.body.calls }, json, ({ calls }) => callLines(calls))
  return gatewayExit.done
}

/** `trunkline refusals`. */
export const printRefusals = async (file: string, json: boolean): Promise<number> => {
  const response = await requestGateway<{ readonly refusals: readonly RefusalBody[] }>(file, {
    command: 'refusals',
  })
  if (response.kind === 'failed') return response.exitCode
  printBody(response.body, json, ({ refusals }) => refusalLines(refusals))
  return gatewayExit.done
}

/** Returns a status as lines for a person. */
export const statusLines = (status: StatusBody): readonly string[] => {
  const { calls, browsers, store, bans } = status
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['calls', [`${calls.in_progress} of ${calls.limit}, ${counted(calls.legs, 'leg')}`]],
    ['carriers', status.carriers.map(carrierLine)],
    ['SIP', [status.listeners.sip.join('  ')]],
    ['HTTP', [status.listeners.http.join('  ')]],
    ['phones', [counted(status.registrations, 'registered contact')]],
    [
      'browsers',
      [`${browsers.connected} connected, ${counted(browsers.subscribers_online, 'subscriber')} online`],
    ],
    ['store', [`${store.name}${store.writable ? '' : ' (cannot be written)'}`]],
    [
      'certificates',
      status.certificates.map(({ name, expires_in_days: days }) => `${name}: ${counted(days, 'day')}`),
    ],
    ['shield', bans === null ? [] : [bans === 1 ? '1 banned address' : `${bans} banned addresses`]],
    ['refusals', status.refusals > 0 ? [`${status.refusals}; see trunkline refusals`] : []],
  ]
  const uptime = duration(status.uptime_seconds * 1_000)
  return [
    `Trunkline ${status.version}: ${status.health}, ${status.state} for ${uptime}`,
    ...status.problems.map((problem) => `  ! ${problem}`),
    ...textTable(
      rows.flatMap(([label, values]) => values.map((value, at) => [`  ${at === 0 ? label : ''}`, value])),
    ),
  ]
}

/** Returns a number with its noun. */
const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const carrierLine = ({ name, state, registration, calls, targets }: StatusBody['carriers'][number]): string =>
  [
    `${name} ${state}`,
    counted(calls, 'call'),
    ...(registration === null ? [] : [`registration ${registration}`]),
    ...targets.map(({ uri, state: own, since, last_ping: ping }) =>
      [
        uri,
        own,
        ...(since === null ? [] : [`since ${since}`]),
        ...(ping?.problem ? [`(${ping.problem})`] : []),
      ].join(' '),
    ),
  ].join('  ')

/** Returns calls as a table for a person. */
export const callLines = (calls: readonly CallBody[]): readonly string[] =>
  calls.length === 0
    ? ['No calls in progress.']
    : textTable([
        ['CALL', 'FROM', 'TO', 'STATE', 'TIME', 'CODEC', 'CARRIER', 'HANDLER'],
        ...calls.map((call) => [
          call.id.slice(0, 8),
          partyOf(call.from),
          partyOf(call.to),
          call.state,
          duration(call.seconds * 1_000),
          call.codecs.join('/') || '-',
          call.carriers.join('/') || '-',
          call.handler ?? '-',
        ]),
      ])

/** Returns rejected requests as lines for a person. */
export const refusalLines = (refusals: readonly RefusalBody[]): readonly string[] =>
  refusals.length === 0
    ? ['No rejected requests in memory.']
    : [
        ...textTable([
          ['TIME', 'SOURCE', 'STATUS', 'CODE', 'FACTS'],
          ...refusals.map(({ at, code, status, source, ...facts }) => [
            at,
            String(source ?? '-'),
            String(status),
            code,
            Object.entries(facts)
              .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : value}`)
              .join(' '),
          ]),
        ]),
        '',
        'docs/errors.md has a remedy for each code. The SIP agent itself rejects with the code sip_agent.',
      ]
