/** Operation of the document, as far as its texts depend on it. */
interface Operation {
  readonly method: string
  readonly path: string
}

/** Descriptions of operations that do more than their method and path say, by operation id. */
const special: Readonly<Record<string, string>> = {
  signInAtOwnPage:
    'Exchanges an e-mail address and a password for an access token. Only pages of the ' +
    'gateway and of the origins in the configuration may use it.',
  callCommand:
    'The command `dial` creates a call. `update` changes the document of a call or ends it. ' +
    'All other commands control a call in progress, which `id` names. `docs/calling.md` has ' +
    'the `params` of each command.',
  callRpc:
    'Takes the same commands as `POST /api/calling/calls`, in the form of JSON-RPC 2.0. ' +
    'Errors of a command are in the field `error` of a response with status 200.',
  assign_domain_application:
    'Calls to the domain are from now on handled by this resource. The former handler is replaced.',
  assign_sip_endpoint: 'Calls of the SIP endpoint are from now on handled by this resource.',
  create_embed_token:
    'The token may be part of a public page: it only lets visitors call one address, and has ' +
    'limits of its own.',
  join_conversation:
    'Returns the conversation of the given addresses. Creates it if the subscriber has none ' +
    'with them yet.',
  renew_oauth_client_secret: 'The former secret is invalid from now on. No other response shows the new one.',
  get_recording_audio:
    'Sends the audio file, as a whole or in the requested range. A signed link needs no other' +
    ' authentication.',
  list_call_records:
    'Returns records of ended calls. With `accept: text/csv`, returns the same records as CSV.',
  list_leg_records:
    'Returns records of ended legs. With `accept: text/csv`, returns the same records as CSV.',
  createCompatCall:
    'Calls a number, SIP URI or address. The document of `Url`, `Twiml` or `ApplicationSid` ' +
    'runs after the answer.',
  updateCompatCall: 'With `Url` or `Twiml`, runs another document. With `Status`, ends the call.',
}

/** Returns what an operation does beyond its summary, in one or more sentences. */
export const operationText = (id: string, { method, path }: Operation): string => {
  const own = special[id]
  if (own) return own
  const isItem = path.endsWith('}')
  const isCompat = path.startsWith('/api/laml/')
  switch (method) {
    case 'get':
      if (isItem) return 'Returns one object. If the project has no object with this id, the status is 404.'
      if (isCompat) return 'Returns one page of the list. `next_page_uri` is the path of the next page.'
      return (
        'Returns what the caller of the request may see. A long list has pages, with paths in ' + '`links`.'
      )
    case 'delete':
      return (
        'Removes the object. Objects that the configuration file declares cannot be removed: the ' +
        'status is 409.'
      )
    case 'put':
    case 'patch':
      return (
        'Returns the changed object. A body with an invalid field changes nothing, and the errors' +
        ' name every such field. Objects that the configuration file declares cannot be changed: ' +
        'the status is 409.'
      )
    default:
      if (isCompat)
        return (
          'Takes form fields. A form with an invalid field changes nothing, and the error names the' +
          ' field.'
        )
      return (
        'Returns the result. A body with an invalid field changes nothing, and the errors name ' +
        'every such field. Send the header `idempotency-key` to repeat the request safely.'
      )
  }
}
