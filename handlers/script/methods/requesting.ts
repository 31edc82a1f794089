import { asText } from '../../common/as-text.ts'
import { hasControlCharacter } from '../../common/headers.ts'
import type { HttpRequest, HttpResponse } from '../../handler.ts'
import { CallEnded, VerbFailed } from '../../verbs.ts'
import { codes } from '../codes.ts'
import type { Method } from '../method.ts'
import { boolean, choice, number, texts, url } from '../schema-builders.ts'
import { badValue, type Values } from '../values.ts'
import type { Variables } from '../variables.ts'

/** Headers of the connection, which only the gateway sets. */
const reserved = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
])

const headersOf = (values: Values): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(values.object('headers') ?? {}).map(([name, value]) => {
      const text = asText(value)
      if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) || reserved.has(name.toLowerCase()))
        throw badValue('headers', 'has a name that cannot be used')
      if (hasControlCharacter(text))
        throw badValue('headers', `has a line break or control character in ${name}`)
      return [name.toLowerCase(), text]
    }),
  )

const urlOf = (values: Values): string => {
  const url = values.url('url')
  if (url === undefined) throw badValue('url', 'is empty')
  return url
}

const requestOf = (values: Values): HttpRequest => {
  const { 'content-type': type, ...headers } = headersOf(values)
  const body = values.parameters.body
  const json = typeof body === 'object'
  const timeoutMs = values.seconds('timeout')
  const connectTimeoutMs = values.seconds('connect_timeout')
  return {
    url: urlOf(values),
    method: values.needed('method').toUpperCase() as HttpRequest['method'],
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== undefined && {
      body: { contentType: type ?? (json ? 'application/json' : 'text/plain'), text: asText(body) },
    }),
    ...(timeoutMs && { timeoutMs }),
    ...(connectTimeoutMs && { connectTimeoutMs }),
  }
}

const keep = (variables: Variables, { status, headers, text }: HttpResponse, isParsed: boolean): void => {
  const result = status < 400 ? 'success' : 'failed'
  variables.assign({ request_result: result, return_value: result, request_response_code: status })
  variables.set('request_response_headers', headers)
  variables.set('request_response_body', text)
  if (isParsed) variables.set('request_response', parse(text))
}

/** Parses a body as JSON; undefined if it is not JSON. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Methods that send requests to customers' servers. */
export const requesting: Readonly<Record<string, Method>> = {
  request: {
    description: 'Sends an HTTP request.',
    properties: {
      url: url('URL of the request.'),
      method: choice('GET, POST, PUT or DELETE.', [
        'GET',
        'POST',
        'PUT',
        'DELETE',
        'get',
        'post',
        'put',
        'delete',
      ]),
      headers: texts('Headers of the request, by name.'),
      body: {
        title: 'a text or an object',
        description:
          'Body: a text unchanged, an object as JSON. Content-Type is set accordingly unless a header ' +
          'sets it.',
        type: ['string', 'object', 'array'],
      },
      timeout: number('Maximum duration in seconds; default 0: that of the configuration.', [0, 600]),
      connect_timeout: number(
        'Maximum time to connect in seconds; default 0: that of the configuration.',
        [0, 600],
      ),
      save_variables: boolean('Stores a JSON response as request_response; default false.'),
    },
    required: ['url', 'method'],
    failed: { request_result: 'failed', return_value: 'failed' },
    run: async (values, { call, context, variables }) => {
      const request = requestOf(values)
      const parsed = values.boolean('save_variables') ?? false
      for (const name of ['code', 'headers', 'body']) variables.unset(`request_response_${name}`)
      variables.unset('request_response')
      variables.assign({ request_url: request.url })
      let answer: HttpResponse
      try {
        answer = await context.request(request, call.signal)
      } catch (error) {
        if (call.signal.aborted) throw new CallEnded()
        throw new VerbFailed(
          codes.methodFailed,
          error instanceof Error ? error.message : 'There was no response.',
          error,
        )
      }
      keep(variables, answer, parsed)
      return undefined
    },
  },
}
