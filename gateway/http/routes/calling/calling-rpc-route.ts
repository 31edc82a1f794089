import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { faultOf, type RequestFault } from '../../requests/request-faults.ts'
import type { TypedSite } from '../../requests/typed-routes.ts'
import { forProjects } from '../shared/route-schemas.ts'
import { callLeg, callLegSchema } from './call-leg-body.ts'
import { allCommands, type CallingDeps, runCommand } from './calling-routes.ts'

const requestId = 'Id that the client gives to the request. The response repeats it.'

const body = {
  type: 'object',
  required: ['jsonrpc', 'id', 'method'],
  additionalProperties: false,
  properties: {
    jsonrpc: { type: 'string', enum: ['2.0'] },
    id: { type: ['string', 'number'], maxLength: 100, description: requestId },
    method: { type: 'string', maxLength: 100, description: 'Name of the command.' },
    params: { type: 'object', description: 'Parameters of the command; `id` is the id of the call.' },
  },
} as const

const answer = {
  type: 'object',
  properties: {
    jsonrpc: { type: 'string' },
    id: { type: ['string', 'number'], description: requestId },
    result: callLegSchema,
    error: {
      type: 'object',
      properties: {
        code: { type: 'integer', description: 'Number of the error (JSON-RPC 2.0 section 5.1).' },
        message: { type: 'string' },
        data: {
          type: 'object',
          description: 'Code of the error, and the field that is wrong.',
          properties: { code: { type: 'string' }, attribute: { type: ['string', 'null'] } },
        },
      },
    },
  },
} as const

/** Codes of JSON-RPC 2.0 section 5.1 by HTTP status; internal error for any other. */
const codes: Readonly<Record<number, number>> = { 400: -32602, 404: -32602, 422: -32602, 501: -32601 }

const errorOf = ({ status, code, message, attribute }: RequestFault) => ({
  code: codes[status] ?? -32000,
  message,
  data: { code, attribute },
})

/** `POST /api/calling/rpc`: the commands as JSON-RPC 2.0 requests. Errors are responses with status 200. */
export const callingRpcRoute = (site: TypedSite, deps: CallingDeps): void => {
  const operation = forProjects('Calling', 'callRpc', 'Creates and controls calls by JSON-RPC 2.0')
  site.post(
    '/api/calling/rpc',
    {
      onRequest: deps.requireProject('calling'),
      schema: { ...operation, body, response: { 200: answer } },
    },
    async ({ body: { id, method, params = {} }, projectId }) => {
      const common = { jsonrpc: '2.0', id }
      try {
        return { ...common, result: callLeg(await runCommand(deps, projectId, commandOf(method, params))) }
      } catch (error) {
        const fault = faultOf(error as Error as Parameters<typeof faultOf>[0])
        if (fault.code === 'internal') throw error
        return { ...common, error: errorOf(fault) }
      }
    },
  )
}

/** Returns the command of a method. `calling.dial` and `calling.update` have shorter names as commands. */
const commandOf = (method: string, { id, ...params }: Readonly<Record<string, unknown>>) => {
  const short = method.replace(/^calling\.(dial|update)$/, '$1')
  const command = short === method ? allCommands.find((each) => each === method) : short
  if (command === undefined || !method.startsWith('calling.'))
    throw new TrunklineError('verb_unavailable', `${method.slice(0, 100)} is no method.`)
  return { command, params, ...(typeof id === 'string' && { id }) }
}
