/** Operation of the document, as far as its texts depend on it. */
interface Operation {
  readonly method: string
  readonly path: string
}

/** Texts about the objects of a collection. */
interface CollectionTexts {
  /** Effect of a creation. */
  readonly made: string
  /** Effect of a change; default {@link nextCall}. */
  readonly changed?: string
  /** Effect of a removal. */
  readonly removed: string
  /** Order and filters of the list, or what an item shows. */
  readonly list?: string
}

const nextCall = 'The next call uses the new values. Calls in progress keep the former ones.'
const noCalls = 'Further calls to its address are rejected. Calls in progress continue.'
const byName = '`display_name` filters by a part of the name.'
const checkedScript = 'An invalid script is rejected, and the error names each fault with its place.'

/** Texts of the collections, by the last part of their path. */
const collections: Readonly<Record<string, CollectionTexts>> = {
  subscribers: {
    made: 'The subscriber can sign in at once. A call to the address rings where the subscriber is online.',
    changed: 'A new password ends the tokens of the subscriber.',
    removed: 'Deletes the SIP endpoints of the subscriber too, and ends all of its tokens.',
    list: byName,
  },
  sip_endpoints: {
    made: 'The phone can register at once with the user name and the password, which no response shows.',
    changed: 'A new user name requires the password too, since only a digest of it is stored.',
    removed: 'The phone can no longer register, and its calls are rejected.',
  },
  swml_scripts: { made: `A call to the address runs the script. ${checkedScript}`, removed: noCalls },
  swml_webhooks: {
    made: 'For each call to the address, the gateway requests a script from `primary_request_url`.',
    removed: noCalls,
  },
  cxml_scripts: {
    made:
      'A call to the address runs the document. An invalid document is rejected, and the error names ' +
      'each fault with its place.',
    removed: noCalls,
  },
  cxml_webhooks: {
    made: 'For each call to the address, the gateway requests an XML document from `primary_request_url`.',
    removed: noCalls,
  },
  call_flows: {
    made: 'The flow is a working copy. A call to the address runs it until a version is deployed.',
    changed:
      'Changes the working copy, and raises its `document_version`. A deployed version stays as it is.',
    removed: `Deletes the deployed versions too. ${noCalls}`,
  },
  relay_applications: {
    made: 'A call to the address is offered to the realtime clients that listen on `topic`.',
    removed: noCalls,
  },
  sip_gateways: { made: 'A call to the address is connected to `uri`.', removed: noCalls },
  conference_rooms: { made: 'A call to the address joins the conference of the room.', removed: noCalls },
  ai_agents: {
    made: 'A call to the address is answered by the agent. The settings are those of `ai` in scripts.',
    changed: 'The next conversation uses the new settings. Null removes a setting.',
    removed: 'A conversation in progress continues.',
  },
  rooms: {
    made: 'A call to the address joins the room, as does a room token with its name.',
    changed: 'The next session uses the new values. A session in progress keeps the former ones.',
    removed: 'A session in progress continues.',
    list:
      'These are the rooms of `/api/fabric/resources/conference_rooms`. `starts_after` and `ends_before` ' +
      'filter by the times of joining.',
  },
  conferences: {
    made: 'Creates a room: a call to the address joins it, as does a room token with its name.',
    changed: 'The next session uses the new values. A session in progress keeps the former ones.',
    removed: 'A session in progress continues.',
    list: 'These are the rooms of `/api/video/rooms`, with a `size` in place of a number of members.',
  },
  domain_applications: {
    made: 'Calls to the resulting `domain` are accepted at once, and handled as `call_handler` says.',
    removed: 'Further calls to the domain are rejected. Calls in progress continue.',
    list: '`filter_name` and `filter_domain` filter by the name and the domain.',
  },
  carriers: {
    made: 'The carrier has the fields of the configuration file, and serves calls at once.',
    changed: `Fields that are left out get their default. ${nextCall}`,
    removed: 'No further call goes to the carrier or comes from it.',
    list: 'Each carrier has its health at the gateway that answers.',
  },
  sip: {
    made: 'An older form of `POST /api/fabric/resources/sip_endpoints`, for the same phones.',
    changed: 'A new user name requires the password too, since only a digest of it is stored.',
    removed: 'The phone can no longer register, and its calls are rejected.',
    list: 'These are the SIP endpoints of `/api/fabric/resources/sip_endpoints` in an older form.',
  },
  tokens: {
    made: 'The token can use the routes of its `permissions`, which the token of the request must have too.',
    changed: 'New permissions apply to the next request. The secret stays the same.',
    removed: 'Requests with the token are rejected from now on.',
    list: 'Secrets are not shown.',
  },
  oauth_clients: {
    made: 'Subscribers can sign in to the application at once. A confidential client has a secret.',
    changed: 'New redirect URIs apply to the next sign-in.',
    removed: 'Ends the tokens that the application has received.',
    list: 'Secrets are not shown.',
  },
}

/** Descriptions of operations that do more than their method and path say, by operation id. */
const special: Readonly<Record<string, string>> = {
  signInAtOwnPage:
    'Exchanges an e-mail address and a password for an access token. Only pages of the ' +
    'gateway and of the origins in the configuration may use it.',
  get_subscriber_info:
    'Returns the profile of the holder, the addresses that reach the holder, and the scopes of the token. ' +
    'Guests and invited persons receive what their token permits.',
  list_addresses:
    'Returns what the holder of the token may call. `channels` of an address can be dialled unchanged. ' +
    'Guests see only the addresses of their token.',
  get_address:
    'Returns an address that the holder of the token may call; `channels` can be dialled unchanged.',
  list_subscriber_calls:
    'Returns ended calls of the signed-in subscriber with their result, such as missed calls. ' +
    '`ended_after` leaves out calls that an application knows already.',
  list_resources:
    'Returns every object that has an address. `type`, `display_name` and `address` filter the list, ' +
    '`sort_by` and `sort_order` sort it.',
  get_resource: 'Finds a resource by its id alone. The field with the name of its `type` has its own fields.',
  delete_resource: `Removes any resource, a subscriber only with the permission \`subscribers\`. ${noCalls}`,
  list_resource_addresses: 'Returns the one address of the resource, in the form that browsers see.',
  assign_domain_application:
    'Calls to the domain are from now on handled by this resource. The former handler is replaced.',
  assign_sip_endpoint: 'Calls of the SIP endpoint are from now on handled by this resource.',
  list_call_flow_versions: 'The version that handles calls has `current: true`.',
  deploy_call_flow:
    'Stores the working copy as a version that handles the next call. `call_flow_version_id` deploys an ' +
    'earlier version again. With `document_version`, a working copy of another version is not deployed.',
  list_ai_agent_versions:
    'Each change of the settings is a version; the latest hundred are kept. The one that calls run has ' +
    '`current: true`.',
  get_ai_agent_version: 'Returns the settings of the version.',
  restore_ai_agent_version:
    'Makes the settings of a version those of the agent, from the next call on. The version is named by ' +
    '`ai_agent_version_id` or `document_version`.',
  create_subscriber_token:
    'A page signs in with `token`, for two hours unless `expire_at` is given. `refresh_token` renews it ' +
    'once. An unknown `reference` creates a subscriber.',
  refresh_subscriber_token:
    'Returns a new pair of tokens. The refresh token is spent; its second use ends all tokens of the same ' +
    'sign-in, and receives 401.',
  revoke_token:
    'Ends an access token, an embed token or a room token, or a refresh token with all tokens derived from ' +
    'it. Resets a conference token. The response does not tell whether the token was valid.',
  revoke_subscriber_tokens:
    'Signs the subscriber out everywhere: ends all access tokens, refresh tokens and invitations.',
  create_guest_token: 'A guest sees and calls up to ten addresses, and receives no calls.',
  create_room_token:
    'The holder joins this room with `Video.RoomSession` of the browser SDK, and calls nothing else. ' +
    'The token is valid for a day from `join_from`, or until `join_until` or `remove_at`.',
  create_invite_token: 'The holder may call this address in the name of the subscriber, and nothing else.',
  create_embed_token:
    'The token may be part of a public page: it only lets visitors call one address, and has ' +
    'limits of its own.',
  create_embed_guest_token:
    'Needs no credentials. The guest token permits calls to the one address of the embed token.',
  renew_oauth_client_secret: 'The former secret is invalid from now on. No other response shows the new one.',
  create_subscriber_device:
    'The device receives push notifications of calls. The subscriber decrypts them with ' +
    '`push_notification_key`.',
  list_subscriber_devices: 'Returns the devices that receive push notifications of the subscriber’s calls.',
  delete_subscriber_device: 'The device receives no further push notifications.',
  list_conversations: 'Each conversation has its name and the time of its latest message.',
  get_conversation: 'The id may also be that of an address, whose conversation is returned.',
  join_conversation:
    'Returns the conversation of the given addresses. Creates it if the subscriber has none ' +
    'with them yet.',
  list_messages: 'Returns the messages of all conversations of the subscriber. `next` has older ones.',
  create_message: 'The members of the conversation receive the message at once if they are online.',
  list_conversation_messages: 'Returns the messages of one conversation. `next` has older ones.',
  list_call_records:
    'Returns records of ended calls. With `accept: text/csv`, returns the same records as CSV.',
  get_call_record:
    'Returns the record with `record`, all facts that the gateway stored at the end of the call.',
  list_leg_records:
    'Returns records of ended legs. With `accept: text/csv`, returns the same records as CSV.',
  get_leg_record:
    'Returns the record with `record`, all facts that the gateway stored at the end of the leg.',
  list_voice_logs: 'Returns calls in progress and ended ones. `status` and times filter the list.',
  get_voice_log: 'Returns the present state of a call in progress, or the result of an ended call.',
  list_voice_log_events:
    'Returns the steps of the call in order, such as `call.ringing` and `call.answered`.',
  get_video_room:
    'The name is that of a room at `/public/`. `active_session` is the session in progress, or null.',
  list_room_sessions:
    'Returns sessions in progress and ended ones. `room_id`, `room_name`, `room_name_matches` and `status` ' +
    'filter the list.',
  get_room_session: 'A session begins with the first member of a room, and ends with the last one.',
  update_room_session: 'The changes apply to this session, and not to the settings of the room.',
  list_room_session_events:
    'Returns the events in order, such as `room.started` and `member.joined`. A session has at most 2,000.',
  list_room_session_members: 'Returns present members with their `state`, and those that have left.',
  get_room_session_member: '`state` is the present state of a member that is in the room.',
  update_room_session_member:
    'Members and the room see the change, as if a member had made it. An unmuted member is heard at once.',
  delete_room_session_member:
    'The document of the member goes on after the room. A call that has dialled the room ends.',
  list_video_room_streams: 'The streams start with each session of the room.',
  create_video_room_stream:
    'The next session of the room is streamed to the server. A room has at most three streams.',
  list_video_conference_streams: 'The streams are those of the room in `/api/video/rooms`.',
  create_video_conference_stream:
    'The next session of the conference is streamed to the server. It has at most three streams.',
  list_video_conference_tokens:
    'Returns two tokens: `moderator` has all permissions in the room, `guest` those on its own member.',
  get_conference_token: 'A link or a page has the token, and exchanges it for a room token.',
  reset_conference_token:
    'Room tokens that were made from the former token end, and after ten seconds the sessions of their ' +
    'holders.',
  exchange_conference_token:
    'Needs no other credentials. The holder joins the room with `Video.RoomSession` of the browser SDK.',
  get_video_stream: 'The response has the URL without its key.',
  update_video_stream: 'The next session of the room uses the new server.',
  patch_video_stream: 'The next session of the room uses the new server.',
  delete_video_stream: 'A session in progress continues with the stream.',
  list_room_session_streams: 'Returns streams in progress, and those that have ended.',
  create_room_session_stream:
    'A server that does not take the stream is tried again. `error` has the reason if the attempts end.',
  get_room_session_stream: 'A stream that is tried again is `streaming`.',
  delete_room_session_stream: 'The server learns of the end. The session continues.',
  list_video_logs: 'Returns sessions in progress and ended ones. Times filter the list.',
  get_video_log: 'The same session as `GET /api/video/room_sessions/{id}`, in the form of a log.',
  list_recordings: 'Returns recordings in progress too. `call_id` and times filter the list.',
  list_room_recordings: 'Returns recordings in progress too. `media_ttl` sets the age of the links.',
  get_room_recording: 'The field `uri` has a signed link to the file, which expires.',
  delete_room_recording: 'Removes the recording with its file. A recording in progress cannot be removed.',
  list_room_session_recordings: 'Returns recordings in progress too, also of a session that has ended.',
  get_recording: 'The field `url` has a signed link to the audio, which expires.',
  delete_recording: 'Removes the recording with its audio file. A recording in progress cannot be removed.',
  get_recording_audio:
    'Sends the audio file, as a whole or in the requested range. A signed link needs no other' +
    ' authentication.',
  get_recording_file:
    'Sends a file of `files` of a recording of a room, or its `manifest.json`. A signed link needs no other' +
    ' authentication.',
  callCommand:
    'The command `dial` creates a call. `update` changes the document of a call or ends it. ' +
    'All other commands control a call in progress, which `id` names. `docs/calling.md` has ' +
    'the `params` of each command. A destination that cannot be called has the error `unknown_address`, ' +
    'or `no_carrier` for a telephone number without a default carrier.',
  callRpc:
    'Takes the same commands as `POST /api/calling/calls`, in the form of JSON-RPC 2.0. ' +
    'Errors of a command are in the field `error` of a response with status 200.',
  fetchCompatAccount: 'Returns the project of the credentials in the form of an account.',
  createCompatCall:
    'Calls a number, SIP URI or address. The document of `Url`, `Twiml` or `ApplicationSid` ' +
    'runs after the answer. `more_info` of an unknown destination leads to `unknown_address`, or to ' +
    '`no_carrier` for a telephone number without a default carrier.',
  listCompatCalls: 'Returns calls in progress and ended ones; parties, `Status` and times filter the list.',
  fetchCompatCall: 'Returns the present state of a call in progress, or the result of an ended call.',
  updateCompatCall: 'With `Url` or `Twiml`, runs another document. With `Status`, ends the call.',
  deleteCompatCall: 'Removes the record of the call. A call in progress cannot be removed.',
  startCompatRecording: 'The recording ends with the call, or when it is stopped.',
  listCompatCallRecordings: 'Returns the recordings of this call only.',
  fetchCompatCallRecording: 'Returns the present state of the recording, and the path of its audio.',
  changeCompatRecording:
    '`Status` is `paused`, `in-progress` or `stopped`. A stopped recording cannot go on.',
  deleteCompatCallRecording: 'Removes the recording with its audio file.',
  startCompatStream: 'Sends the audio of the call to a WebSocket server until the stream or the call ends.',
  stopCompatStream: 'The server receives the message `stop`, and the call continues.',
  listCompatConferences: 'Conferences in progress; a conference ends with its last participant.',
  fetchCompatConference: 'Returns a conference in progress.',
  updateCompatConference:
    '`Status=completed` hangs up all participants. `AnnounceUrl` plays a document to them.',
  listCompatParticipants: '`Muted` and `Hold` filter the participants.',
  fetchCompatParticipant: 'Returns whether the participant is muted, on hold or coaching.',
  updateCompatParticipant: 'The conference continues. An announcement is heard by this participant only.',
  removeCompatParticipant: 'Hangs up the call of the participant.',
  listCompatQueues: 'A queue exists while calls wait in it.',
  fetchCompatQueue: 'Returns the number of waiting calls and their average wait.',
  listCompatMembers: 'Returns the waiting calls in their order.',
  fetchCompatMember: 'The id is that of a call, or `Front` for the first one.',
  dequeueCompatMember: 'The document of `Url` runs on the call, or on the first one for the id `Front`.',
  createCompatApplication:
    '`ApplicationSid` of a call names the application, whose `VoiceUrl` handles the call.',
  listCompatApplications: 'These are the XML webhooks of the project. `FriendlyName` filters them.',
  fetchCompatApplication: 'Returns the URLs and methods of the application.',
  updateCompatApplication: nextCall,
  deleteCompatApplication: noCalls,
  createCompatDocument: 'An invalid document is rejected, and the error names each fault with its place.',
  listCompatDocuments: 'These are the XML documents of the project.',
  fetchCompatDocument: 'Returns the text of the document.',
  updateCompatDocument: 'The next call runs the new text. Calls in progress keep the former one.',
  deleteCompatDocument: noCalls,
  listCompatRecordings: 'Returns recordings of all calls, in progress too. `CallSid` selects one call.',
  fetchCompatRecording: 'With `.wav` or `.mp3` after the id, sends the audio.',
  deleteCompatRecording:
    'Removes the recording with its audio file. A recording in progress cannot be removed.',
}

/** Paths that serve the same as a main one, by their beginning. */
const aliases: readonly (readonly [path: string, main: string])[] = [
  ['/api/fabric/resources/subscribers', '/api/fabric/subscribers'],
  ['/api/fabric/resources/call_flow/{id}/addresses', '/api/fabric/resources/call_flows/{id}/addresses'],
  ['/api/fabric/resources/call_flows/{id}/versions', '/api/fabric/resources/call_flow/{id}/versions'],
  ['/api/fabric/domain_applications', '/api/relay/rest/domain_applications'],
  ['/subscriber/devices', '/api/fabric/subscriber/devices'],
]

/** Returns the path that does the same as this one; undefined if the path is no alias. */
export const mainPathOf = (path: string): string | undefined => {
  const found = aliases.find(([alias]) => path === alias || path.startsWith(`${alias}/`))
  return found && found[1] + path.slice(found[0].length)
}

/** Returns what an operation does beyond its summary, in one or more sentences. */
export const operationText = (id: string, { method, path }: Operation): string => {
  const main = mainPathOf(path)
  if (main !== undefined) return `Same as \`${method.toUpperCase()} ${main}\`.`
  const own = special[id]
  if (own) return own
  if (path.endsWith('/{id}/addresses')) return 'Returns the one address of the object, as browsers see it.'
  const collection =
    path
      .replace(/\/\{\w+\}$/, '')
      .split('/')
      .at(-1) ?? ''
  const texts = collections[collection]
  if (!texts) throw new Error(`The operation ${id} has no text.`)
  if (method === 'post') return texts.made
  if (method === 'delete') return texts.removed
  if (method !== 'get') return texts.changed ?? nextCall
  if (!path.endsWith('}')) return texts.list ?? byName
  return 'Returns the present values, also of an object that the configuration file declares.'
}
