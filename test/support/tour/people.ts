import { until } from '../until.ts'
import type { ApiRecorder } from './recorder.ts'

const person = { email: 'erin@example.com', password: 'correct-horse-17', first_name: 'Erin' }

/** Tokens of projects, applications and people; devices and chat of a signed-in person. */
export const tourPeople = async (api: ApiRecorder): Promise<void> => {
  await tourProjectTokens(api)
  await tourOAuthClients(api)
  const { id } = await api.json('POST', '/api/fabric/subscribers', person)
  await api.json('POST', '/api/console/session', { email: person.email, password: person.password })
  await api.json('POST', '/api/console/session', { email: person.email, password: 'wrong' }, { status: 401 })
  await tourDevices(api)
  await tourChat(api)
  await tourSubscriberTokens(api, id)
}

const tourProjectTokens = async (api: ApiRecorder): Promise<void> => {
  const path = '/api/project/tokens'
  const token = { name: 'CRM', permissions: ['calling', 'records'] }
  const { id, token: secret } = await api.json('POST', path, token)
  await api.json('POST', path, { name: '', permissions: ['everything'] }, { status: 422 })
  await tourForbidden(api, `Basic ${Buffer.from(`default:${secret}`).toString('base64')}`)
  await api.json('GET', path)
  await api.json('PUT', `${path}/${id}`, { name: 'CRM of the shop' })
  await api.json('PATCH', `${path}/${id}`, { permissions: ['records'] })
  await api.json('DELETE', `${path}/${id}`)
}

/** Requests with a token that has only the permissions for calls and records. */
const tourForbidden = async (api: ApiRecorder, credentials: string): Promise<void> => {
  const forbidden = { status: 403, credentials }
  await api.json('GET', '/api/fabric/resources', undefined, forbidden)
  await api.json('GET', '/api/fabric/subscribers', undefined, forbidden)
  await api.json('POST', '/api/fabric/subscribers', person, forbidden)
  await api.json('GET', '/api/project/tokens', undefined, forbidden)
}

const tourOAuthClients = async (api: ApiRecorder): Promise<void> => {
  const path = '/api/oauth_clients'
  const client = {
    name: 'Portal',
    redirect_uris: ['https://portal.example.com/signed-in'],
    confidential: true,
  }
  const { id } = await api.json('POST', path, client)
  await api.json('POST', path, { name: 'Portal' }, { status: 422 })
  await api.json('GET', path)
  await api.json('GET', `${path}/${id}`)
  await api.json('PUT', `${path}/${id}`, { name: 'Customer portal' })
  await api.json('PATCH', `${path}/${id}`, { redirect_uris: ['https://portal.example.com/callback'] })
  await api.json('POST', `${path}/${id}/secret`)
  await api.json('DELETE', `${path}/${id}`)
}

/** Requests an access token of a person, and returns the credentials with it. */
const signIn = async (api: ApiRecorder, reference: string): Promise<string> => {
  const { token } = await api.json('POST', '/api/fabric/subscribers/tokens', { reference })
  return `Bearer ${token}`
}

const tourDevices = async (api: ApiRecorder): Promise<void> => {
  const credentials = await signIn(api, person.email)
  await api.json('GET', '/api/fabric/subscriber/info', undefined, { credentials })
  const wrong = { status: 401, credentials: 'Bearer expired' }
  await api.json('GET', '/api/fabric/subscriber/info', undefined, wrong)
  for (const path of ['/subscriber/devices', '/api/fabric/subscriber/devices']) {
    const device = { device_token: 'f3a1c0ffee', device_type: 'iOS' }
    const { id } = await api.json('POST', path, device, { credentials })
    await api.json('GET', path, undefined, { credentials })
    await api.json('DELETE', `${path}/${id}`, undefined, { credentials })
  }
}

const tourChat = async (api: ApiRecorder): Promise<void> => {
  const credentials = await signIn(api, person.email)
  const other = await signIn(api, 'frank@example.com')
  const addressOf = async (authorized: string): Promise<string> => {
    const info = await api.json('GET', '/api/fabric/subscriber/info', undefined, { credentials: authorized })
    return info.fabric_addresses[0].id
  }
  const id = await addressOf(other)
  const own = { credentials }
  await api.json('POST', '/api/fabric/conversations/join', { conversation_id: id }, own)
  await api.json('POST', '/api/fabric/messages', { conversation_id: id, text: 'Good morning' }, own)
  await api.json('POST', '/api/fabric/messages', { conversation_id: id }, { ...own, status: 422 })
  await api.json('GET', '/api/fabric/messages', undefined, own)
  await api.json('GET', '/api/fabric/conversations', undefined, own)
  await api.json('GET', `/api/fabric/conversations/${id}`, undefined, own)
  await api.json('GET', `/api/fabric/conversations/${id}/messages?page_size=20`, undefined, own)
  await missedCall(api)
  await until(
    'the missed call is in the history',
    () => api.json('GET', '/api/fabric/subscriber/calls?page_size=20', undefined, own),
    (answer) => answer.data.length === 1,
  )
  await api.json('GET', '/api/fabric/addresses?page_size=2', undefined, own)
  await api.json('GET', `/api/fabric/addresses/${id}`, undefined, own)
  await api.json('POST', '/api/fabric/subscriber/invites', { address_id: id }, own)
}

/** Calls the person, who is not online. */
const missedCall = (api: ApiRecorder) =>
  api.json('POST', '/api/calling/calls', {
    command: 'dial',
    params: { from: '+15550100', to: '/private/erin', url: 'https://app.example.com/call.json' },
  })

const tourSubscriberTokens = async (api: ApiRecorder, subscriber: string): Promise<void> => {
  const tokens = '/api/fabric/subscribers/tokens'
  const { refresh_token } = await api.json('POST', tokens, { reference: person.email })
  const { token } = await api.json('POST', `${tokens}/refresh`, { refresh_token })
  await api.json('POST', `${tokens}/refresh`, { refresh_token }, { status: 401 })
  await api.json('POST', `${tokens}/revoke`, { token })
  const { data } = await api.json('GET', `/api/fabric/subscribers/${subscriber}/addresses`)
  const [{ id }] = data
  await api.json('POST', '/api/fabric/guests/tokens', { allowed_addresses: [id] })
  await api.json('POST', '/api/video/room_tokens', {
    room_name: 'lounge',
    user_name: 'Vera',
    permissions: ['room.self.audio_mute', 'room.self.audio_unmute', 'room.set_layout'],
    join_audio_muted: true,
  })
  const embed = await api.json('POST', '/api/fabric/embeds', {
    address_id: id,
    origins: ['https://www.example.com'],
  })
  await api.json('POST', '/api/fabric/embeds/tokens', { token: embed.token }, { status: 403 })
  const open = await api.json('POST', '/api/fabric/embeds', { address_id: id })
  await api.json('POST', '/api/fabric/embeds/tokens', { token: open.token })
  await api.json('DELETE', `/api/fabric/subscribers/${subscriber}/tokens`)
}
