import { type CallCommands, callCommands } from '../../../calling/call-commands.ts'
import type { CallPlacement } from '../../../calling/call-placement.ts'
import { Refusal } from '../../../calling/operations/command-fields.ts'
import type { CallRow } from '../../../calls/log/call-rows.ts'
import { messageOf, TrunklineError } from '../../../core/errors/catalogue.ts'
import type { Log } from '../../../core/log.ts'
import type { RequireProject } from '../../requests/principal.ts'
import type { TypedSite, Validated } from '../../requests/typed-routes.ts'
import { type Checks, checksOf } from '../shared/document-checks.ts'
import { forProjects } from '../shared/route-schemas.ts'
import { callLeg, callLegSchema } from './call-leg-body.ts'
import { checkTransfer, readDial, readUpdate, unusedOf } from './calling-commands.ts'
import { commandBody, commandSchemas } from './command-schemas.ts'

/** Collaborators of the routes of calling. */
export interface CallingDeps {
  readonly placement: CallPlacement
  readonly commands: Pick<CallCommands, 'run'>
  readonly documentChecks: Checks
  readonly requireProject: RequireProject
  readonly log: Pick<Log, 'debug'>
}

/** Names of all commands. */
export const allCommands: readonly string[] = ['dial', 'update', ...callCommands]

const body = {
  type: 'object',
  required: ['command', 'params'],
  additionalProperties: false,
  properties: {
    command: { type: 'string', enum: allCommands },
    id: { type: 'string', maxLength: 64, description: 'Id of the call, for commands on a call in progress.' },
    params: { type: 'object', description: 'Parameters of the command.' },
  },
} as const

/** Command on a call. `update` may name the call in its `params` instead. */
export type Command = Validated<typeof body>

/** `POST /api/calling/calls`: creates a call, or runs a command on a call in progress. */
export const callingRoutes = (site: TypedSite, deps: CallingDeps): void => {
  const operation = forProjects(
    'Calling',
    'callCommand',
    'Creates a call, or runs a command on a call in progress',
  )
  for (const schema of commandSchemas) site.addSchema(schema)
  site.post(
    '/api/calling/calls',
    {
      config: { documentedBody: commandBody },
      onRequest: deps.requireProject('calling'),
      schema: { ...operation, body, response: { 200: callLegSchema } },
    },
    async ({ body: command, projectId }) => callLeg(await runCommand(deps, projectId, command)),
  )
}

/** Runs a command and returns the resulting call. Rejects with TrunklineErrors that name the field. */
export const runCommand = async (
  { placement, commands, documentChecks, log }: CallingDeps,
  projectId: string,
  { command, id, params }: Command,
): Promise<CallRow> => {
  const check = checksOf(documentChecks, projectId)
  try {
    if (command === 'dial') {
      const unused = unusedOf(params)
      if (unused.length > 0) log.debug({ projectId, unused }, 'fields without effect')
      return await placement.place(await readDial(params, { projectId, check }))
    }
    if (command === 'update') {
      const update = await readUpdate({ ...(id !== undefined && { id }), ...params }, check)
      return 'end' in update
        ? await placement.end(projectId, update.id, update.end)
        : await placement.redirect(projectId, update.id, update.handler, update.status)
    }
  } catch (error) {
    throw asFieldFault(error)
  }
  if (id === undefined)
    throw new TrunklineError('missing_required_parameter', 'id is missing.', { attribute: 'id' })
  if (command === 'calling.transfer') await checkTransfer(params, check)
  return commands.run(projectId, id, command, params)
}

/** Request parameter by field of the placement. */
const fields: Readonly<Record<string, string>> = { sendDigits: 'send_digits' }

/** Reports a malformed value as a fault of the field. */
const asFieldFault = (error: unknown): unknown => {
  if (error instanceof Refusal)
    return new TrunklineError('invalid_field', error.message, { attribute: error.attribute ?? null })
  if (!(error instanceof TrunklineError)) return error
  const { attribute } = error.facts
  if (typeof attribute !== 'string' || error.code !== 'bad_request') return error
  return new TrunklineError('invalid_field', messageOf(error), { attribute: fields[attribute] ?? attribute })
}
