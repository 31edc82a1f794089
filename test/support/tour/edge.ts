import type { ApiRecorder } from './recorder.ts'

const application = {
  name: 'Shop',
  identifier: 'shop',
  ip_auth_enabled: true,
  ip_auth: ['192.0.2.0/24'],
  call_handler: 'laml_webhooks',
  call_request_url: 'https://app.example.com/call.xml',
}

/** Domain applications, carriers and SIP endpoints: the calls of carriers and phones. */
export const tourEdge = async (api: ApiRecorder): Promise<void> => {
  for (const path of ['/api/relay/rest/domain_applications', '/api/fabric/domain_applications'])
    await tourApplications(api, path)
  await tourCarriers(api)
  await tourRelayEndpoints(api)
  await tourAssignments(api)
}

const tourApplications = async (api: ApiRecorder, path: string): Promise<void> => {
  const { id } = await api.json('POST', path, application)
  await api.json('POST', path, { name: 'Shop', ip_auth: ['192.0.2.0/33'] }, { status: 422 })
  await api.json('GET', path)
  await api.json('GET', `${path}/${id}`)
  await api.json('PATCH', `${path}/${id}`, { ip_auth: ['192.0.2.0/24', '198.51.100.7'] })
  await api.json('PUT', `${path}/${id}`, { encryption: 'required' })
  await api.json('DELETE', `${path}/${id}`)
  await api.json('GET', `${path}/${id}`, undefined, { status: 404 })
}

const tourCarriers = async (api: ApiRecorder): Promise<void> => {
  const path = '/api/fabric/carriers'
  const carrier = {
    name: 'acme',
    default: true,
    targets: ['sip:sip1.carrier.example', 'sip:sip2.carrier.example'],
  }
  const { id } = await api.json('POST', path, carrier)
  await api.json('POST', path, { name: 'acme', targets: ['carrier'] }, { status: 422 })
  await api.json('GET', path)
  await api.json('GET', `${path}/${id}`)
  await api.json('PUT', `${path}/${id}`, { ...carrier, numbers: { allow: ['+1', '+49'] } })
  await api.json('DELETE', `${path}/${id}`)
  await api.json('GET', `${path}/${id}`, undefined, { status: 404 })
}

const tourRelayEndpoints = async (api: ApiRecorder): Promise<void> => {
  const path = '/api/relay/rest/endpoints/sip'
  const { id } = await api.json('POST', path, { username: 'desk-13', password: 'correct-horse-14' })
  await api.json('POST', path, { username: 'desk-13', password: 'correct-horse-15' }, { status: 422 })
  await api.json('GET', path)
  await api.json('GET', `${path}/${id}`)
  await api.json('PATCH', `${path}/${id}`, { caller_id: '+15550102' })
  await api.json('PUT', `${path}/${id}`, { encryption: 'optional' })
  await api.json('DELETE', `${path}/${id}`)
  await api.json('GET', `${path}/${id}`, undefined, { status: 404 })
}

/** Gives a resource a domain application and a SIP endpoint. */
const tourAssignments = async (api: ApiRecorder): Promise<void> => {
  const resources = '/api/fabric/resources'
  const { id: script } = await api.json('POST', `${resources}/cxml_scripts`, {
    display_name: 'Closed',
    contents: '<Response><Say>We are closed.</Say></Response>',
  })
  const { id: app } = await api.json('POST', '/api/fabric/domain_applications', {
    ...application,
    identifier: 'closed',
  })
  await api.json('POST', `${resources}/${script}/domain_applications`, { domain_application_id: app })
  const { id: endpoint } = await api.json('POST', `${resources}/sip_endpoints`, {
    username: 'desk-14',
    password: 'correct-horse-16',
  })
  await api.json('POST', `${resources}/${script}/sip_endpoints`, { sip_endpoint_id: endpoint })
}
