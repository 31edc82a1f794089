/** Group of operations in the OpenAPI document. */
interface Tag {
  readonly name: string
  /** Heading in the reference; default the name. */
  readonly 'x-displayName'?: string
  readonly description: string
}

/** Tags of the OpenAPI document, in the order of the reference. Each route has one of these names. */
export const tags: Tag[] = [
  {
    name: 'Calling',
    description:
      'Create calls and control calls in progress: play, record, collect digits, transfer, hang up.',
  },
  { name: 'calls', 'x-displayName': 'My calls', description: 'Calls of the signed-in subscriber.' },
  {
    name: 'subscribers',
    'x-displayName': 'Subscribers',
    description:
      'People who sign in to the softphone or an SDK. Each subscriber has an address that can be called.',
  },
  {
    name: 'addresses',
    'x-displayName': 'Addresses',
    description: 'Addresses that the signed-in subscriber may call.',
  },
  {
    name: 'resources',
    'x-displayName': 'Resources',
    description:
      'Objects of every kind that have an address: subscribers, scripts, rooms, gateways. ' +
      'Each kind has routes of its own.',
  },
  {
    name: 'swml_scripts',
    'x-displayName': 'Scripts',
    description: 'Scripts in JSON or YAML that the gateway stores and runs on calls.',
  },
  {
    name: 'swml_webhooks',
    'x-displayName': 'Script webhooks',
    description: 'URLs from which the gateway fetches a script for each call.',
  },
  {
    name: 'cxml_scripts',
    'x-displayName': 'XML documents',
    description: 'XML documents that the gateway stores and runs on calls.',
  },
  {
    name: 'cxml_webhooks',
    'x-displayName': 'XML webhooks',
    description: 'URLs from which the gateway fetches an XML document for each call.',
  },
  {
    name: 'call_flows',
    'x-displayName': 'Call flows',
    description: 'Call flows with versions. The deployed version handles the calls.',
  },
  {
    name: 'relay_applications',
    'x-displayName': 'Realtime applications',
    description: 'Topics. Calls to a topic are offered to the realtime clients that subscribed to it.',
  },
  {
    name: 'conference_rooms',
    'x-displayName': 'Conference rooms',
    description: 'Rooms in which callers meet, with audio and video.',
  },
  {
    name: 'video rooms',
    'x-displayName': 'Video rooms',
    description:
      'Video rooms, their sessions with members and events, and the control of sessions in progress.',
  },
  { name: 'ai_agents', 'x-displayName': 'Agents', description: 'Voice agents, which talk to callers.' },
  {
    name: 'sip_gateways',
    'x-displayName': 'SIP gateways',
    description: 'SIP URIs outside the gateway that have an address inside it.',
  },
  {
    name: 'sip_endpoints',
    'x-displayName': 'SIP endpoints',
    description: 'SIP phones that register with a user name and a password.',
  },
  {
    name: 'domain_applications',
    'x-displayName': 'Domain applications',
    description: 'SIP domains of the project, each with the handler of its inbound calls.',
  },
  {
    name: 'carriers',
    'x-displayName': 'Carriers',
    description: 'SIP trunks to carriers, for inbound and outbound calls.',
  },
  {
    name: 'tokens',
    'x-displayName': 'Tokens',
    description: 'Access tokens of subscribers, guests and invited callers.',
  },
  {
    name: 'project tokens',
    'x-displayName': 'API tokens',
    description: 'API tokens of the project, with permissions and expiry.',
  },
  { name: 'OAuth clients', description: 'Applications that sign subscribers in with OAuth 2.0.' },
  {
    name: 'devices',
    'x-displayName': 'Devices',
    description: 'Devices of a subscriber that receive push notifications.',
  },
  {
    name: 'chat',
    'x-displayName': 'Chat',
    description: 'Conversations and messages of the signed-in subscriber.',
  },
  {
    name: 'records',
    'x-displayName': 'Records',
    description: 'Records of calls and of their legs, as JSON or CSV.',
  },
  {
    name: 'recordings',
    'x-displayName': 'Recordings',
    description: 'Recordings of calls and rooms, and their files.',
  },
  { name: 'console', 'x-displayName': 'Softphone', description: 'Sign-in of the built-in softphone.' },
  {
    name: 'compat',
    'x-displayName': 'XML API',
    description:
      'Calls, conferences, queues, documents and recordings under `/api/laml/2010-04-01`, for clients and ' +
      'helper libraries of that API. Bodies are form fields, and lists have pages of 50.',
  },
]
