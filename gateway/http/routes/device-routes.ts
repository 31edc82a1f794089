import { randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type { DeviceRow, DeviceRows } from '../../directory/tables/devices.ts'
import type { PushKeys } from '../../push/push-keys.ts'
import { type Authenticate, requireBearer, subscriberOf } from '../requests/bearer-auth.ts'
import type { TypedSite } from '../requests/typed-routes.ts'
import { forSubscribers, idParams } from './shared/route-schemas.ts'

/** Collaborators of the routes of devices. */
export interface DeviceDeps {
  readonly devices: Pick<DeviceRows, 'of' | 'add' | 'remove'>
  readonly pushKeys: Pick<PushKeys, 'of'>
  readonly authenticate: Authenticate
  readonly clock: Pick<Clock, 'now'>
}

/** Maximum number of devices of a subscriber. */
const maxDevices = 50

const types = ['iOS', 'Android', 'Desktop'] as const

const bodySchema = {
  type: 'object',
  required: ['device_token', 'device_type'],
  additionalProperties: false,
  properties: {
    device_token: {
      type: 'string',
      minLength: 1,
      maxLength: 4096,
      pattern: '^[^\\u0000-\\u001f\\u007f]*$',
      description: 'Token that the push service issued to the device.',
    },
    device_type: { type: 'string', enum: types },
  },
} as const

const properties = {
  id: { type: 'string' },
  device_token: { type: 'string' },
  device_type: { type: 'string', enum: types },
  device_name: { type: 'null' },
  push_notification_key: { type: 'string' },
  date_registered: { type: 'string' },
} as const

const deviceSchema = { type: 'object', required: Object.keys(properties), properties }

/** Paths for registering devices: the SDK's path, and a path next to the other subscriber routes. */
const bases = { '/subscriber/devices': 'sdk', '/api/fabric/subscriber/devices': 'subscriber' } as const

/** Routes for the devices that receive notifications of a subscriber's calls. */
export const deviceRoutes = (site: TypedSite, deps: DeviceDeps): void => {
  for (const [base, name] of Object.entries(bases)) {
    registerRoute(site, deps, base, name)
    listRoute(site, deps, base, name)
    removeRoute(site, deps, base, name)
  }
}

const describe = (id: string, summary: string) => forSubscribers('devices', id, summary)

const registerRoute = (
  site: TypedSite,
  { devices, pushKeys, authenticate, clock }: DeviceDeps,
  base: string,
  name: string,
): void => {
  const schema = {
    ...describe(`create_${name}_device`, 'Register a device; a known device keeps its id'),
    body: bodySchema,
    response: { 201: deviceSchema },
  }
  site.post(base, { onRequest: requireBearer(authenticate), schema }, async (request, reply) => {
    const subscriber = subscriberOf(request)
    const { device_token: token, device_type: type } = request.body
    const { id, projectId } = subscriber
    const made = { id: randomUUID(), subscriber_id: id, project_id: projectId, created_at: clock.now() }
    const row = await devices.add({ ...made, token, type }, maxDevices)
    if (!row) throw new TrunklineError('over_quota', `A subscriber has at most ${maxDevices} devices.`)
    const key = await pushKeys.of(subscriber)
    return reply.code(201).header('cache-control', 'no-store').send(deviceBody(row, key))
  })
}

const listRoute = (
  site: TypedSite,
  { devices, pushKeys, authenticate }: DeviceDeps,
  base: string,
  name: string,
): void => {
  const schema = {
    ...describe(`list_${name}_devices`, 'List the devices of the subscriber'),
    response: {
      200: {
        type: 'object',
        required: ['data'],
        properties: { data: { type: 'array', items: deviceSchema } },
      },
    },
  }
  site.get(base, { onRequest: requireBearer(authenticate), schema }, async (request, reply) => {
    const subscriber = subscriberOf(request)
    const rows = await devices.of(subscriber.id)
    const key = await pushKeys.of(subscriber)
    return reply.header('cache-control', 'no-store').send({ data: rows.map((row) => deviceBody(row, key)) })
  })
}

const removeRoute = (
  site: TypedSite,
  { devices, authenticate }: DeviceDeps,
  base: string,
  name: string,
): void => {
  const schema = {
    ...describe(`delete_${name}_device`, 'Remove a device'),
    // The SDK parses every response as JSON, so the body is an empty object.
    params: idParams,
    response: { 200: { type: 'object', description: 'Done.' } },
  }
  site.delete(`${base}/:id`, { onRequest: requireBearer(authenticate), schema }, async (request) => {
    const subscriber = subscriberOf(request)
    if (!(await devices.remove(subscriber.id, request.params.id)))
      throw new TrunklineError('unknown_resource')
    return {}
  })
}

const deviceBody = (row: DeviceRow, key: string) => ({
  id: row.id,
  device_token: row.token,
  device_type: row.type,
  device_name: null,
  push_notification_key: key,
  date_registered: new Date(row.created_at).toISOString(),
})
