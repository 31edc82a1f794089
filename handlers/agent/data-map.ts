import { asText } from '../common/as-text.ts'
import { isHttpUrl, withQuery } from '../common/urls.ts'
import type { HttpRequest, HttpResponse } from '../handler.ts'
import type { FunctionReply, Json } from './document-types.ts'
import { readReply } from './function-reply.ts'
import { parsePattern } from './patterns.ts'
import { isTarget, requestHeaders, withCredentials } from './targets.ts'
import { Filling, fill, fillText, lookup } from './templates.ts'
import { booleanOf, isObject, jsonOf, numberOf, textOf, textsOf } from './values.ts'

/** Event of a data map, for the debug events of an agent. Contains no headers and no credentials. */
export type DataMapEvent =
  | { readonly kind: 'input'; readonly args: Json }
  | {
      readonly kind: 'expression'
      readonly text: string
      readonly expression: string
      readonly isMatch: boolean
    }
  | { readonly kind: 'webhook'; readonly method: string; readonly url: string }
  | { readonly kind: 'reply'; readonly status: number; readonly text: string }
  | { readonly kind: 'fail'; readonly reason: string; readonly attempts: number; readonly status?: number }
  | { readonly kind: 'expression-fail'; readonly expression: string; readonly reason: string }
  | { readonly kind: 'error-keys'; readonly key: string }
  | { readonly kind: 'output'; readonly output: unknown }

/** Services for a data map. */
export interface DataMapTools {
  /** Sends a request. Throws if there is no response. */
  request(request: HttpRequest, signal?: AbortSignal): Promise<HttpResponse>
  /**
   * Whether a text matches a pattern of PCRE without delimiters. Evaluated where an endless pattern harms
   * nothing else. Throws if it cannot be evaluated.
   */
  matches(pattern: string, ignoreCase: boolean, text: string): Promise<boolean>
  /** Returns the time in milliseconds since the epoch, for template functions. */
  now(): number
  onEvent?(event: DataMapEvent): void
  readonly signal?: AbortSignal
}

/** Result of a data map. */
export interface DataMapResult {
  readonly reply: FunctionReply
  /** Output with replaced placeholders; absent if no part yielded one. */
  readonly output?: unknown
  /** URL of the last request without its query; absent without a request. */
  readonly url?: string
}

/** Text for the model if a data map yields nothing. */
export const dataMapFailure =
  'The function could not get a result. Tell the caller that it is not available now.'

/** Maximum number of expressions and webhooks of one data map. */
const maxExpressions = 100
const maxWebhooks = 16

/** Maximum number of items of `foreach`, and length of the text that it makes. */
const maxItems = 500
const maxForeachLength = 65_536

/** Maximum length of what `foreach` inserts, as {@link Filling} counts it: eight short values per item. */
const maxForeachInserted = 262_144

const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const

const objectsOf = (value: unknown, max: number): readonly Json[] =>
  (Array.isArray(value) ? value : [value]).filter(isObject).slice(0, max)

const withoutQuery = (url: string): string => {
  const parsed = URL.parse(url)
  return parsed ? `${parsed.protocol}//${parsed.host}${parsed.pathname}` : ''
}

/** Run of one data map. */
class DataMapRun {
  readonly #tools: DataMapTools
  url: string | undefined
  /** Number of requests so far. */
  #attempts = 0

  constructor(tools: DataMapTools) {
    this.#tools = tools
  }

  /** Returns the output of the first matching expression; undefined without one. */
  async expressions(value: unknown, values: Json): Promise<unknown> {
    for (const expression of objectsOf(value, maxExpressions)) {
      const output = await this.#expression(expression, values)
      if (output !== undefined) return output
    }
    return undefined
  }

  async #expression(expression: Json, values: Json): Promise<unknown> {
    const text = this.#text(expression.string, values)
    // Several patterns in a list stand for alternatives.
    for (const written of textsOf(expression.pattern)) {
      const { source, ignoreCase } = parsePattern(this.#text(written, values))
      const isMatch = await this.#tools.matches(source, ignoreCase, text).catch((error: unknown) => {
        this.#tools.onEvent?.({ kind: 'expression-fail', expression: written, reason: messageOf(error) })
        return undefined
      })
      if (isMatch === undefined) continue
      this.#tools.onEvent?.({ kind: 'expression', text, expression: written, isMatch })
      if (isMatch) return this.filled(expression.output, values)
    }
    return this.filled(expression['nomatch-output'] ?? expression.nomatch_output, values)
  }

  /**
   * Sends the requests in order until one succeeds. Returns its output if it has one, and the values with its
   * response. Undefined if none succeeds.
   */
  async webhooks(
    webhooks: readonly Json[],
    values: Json,
  ): Promise<{ readonly values: Json; readonly output: unknown } | undefined> {
    for (const webhook of webhooks) {
      if (this.#tools.signal?.aborted) return undefined
      if (!hasArguments(webhook, values)) continue
      const answered = await this.#webhook(webhook, values)
      if (!answered) continue
      const all = withForeach(webhook, answered, this.#now)
      const output = (await this.expressions(webhook.expressions, all)) ?? this.filled(webhook.output, all)
      return { values: all, output }
    }
    return undefined
  }

  /** Sends one request. Returns the values with the response; undefined after a failure. */
  async #webhook(webhook: Json, values: Json): Promise<Json | undefined> {
    const request = requestOf(webhook, values, this.#now)
    if (!request) return this.#fail('the webhook has no usable URL')
    this.url = withoutQuery(request.url)
    this.#tools.onEvent?.({ kind: 'webhook', method: request.method, url: this.url })
    this.#attempts++
    let response: HttpResponse
    try {
      response = await this.#tools.request(request, this.#tools.signal)
    } catch (error) {
      return this.#fail(messageOf(error))
    }
    this.#tools.onEvent?.({ kind: 'reply', status: response.status, text: response.text })
    if (response.status >= 400) return this.#fail(`status ${response.status}`, response.status)
    const content = jsonOf(response.text)
    if (content === undefined && response.text.trim() !== '')
      return this.#fail('the response is not JSON', response.status)
    const key = errorKey(webhook, content)
    if (key === undefined) return withResponse(values, content)
    this.#tools.onEvent?.({ kind: 'error-keys', key })
    return undefined
  }

  /** Returns an output with replaced placeholders; undefined without one. */
  filled(output: unknown, values: Json): unknown {
    return output === undefined || output === null ? undefined : fill(output, values, this.#now)
  }

  #text(template: unknown, values: Json): string {
    return fillText(textOf(template) ?? '', values, this.#now)
  }

  get #now(): number {
    return this.#tools.now()
  }

  #fail(reason: string, status?: number): undefined {
    const attempts = this.#attempts
    this.#tools.onEvent?.({ kind: 'fail', reason, attempts, ...(status !== undefined && { status }) })
  }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : 'there was no response'

/** Whether the arguments that a webhook needs are there, and not empty. */
const hasArguments = (webhook: Json, values: Json): boolean => {
  const args = isObject(values.args) ? values.args : {}
  const needed = webhook.require_args ?? webhook.required_args
  return (needed === undefined || needed === null ? [] : textsOf(needed)).every(
    (name) => Object.hasOwn(args, name) && args[name] !== '' && args[name] !== null,
  )
}

/** Returns the key of a response that marks an error; undefined without one. */
const errorKey = (webhook: Json, content: unknown): string | undefined => {
  if (!isObject(content) || webhook.error_keys === undefined || webhook.error_keys === null) return undefined
  return textsOf(webhook.error_keys).find((key) => {
    const value = Object.hasOwn(content, key) ? content[key] : lookup(key, content)
    return value !== undefined && value !== null && value !== false && value !== ''
  })
}

/** Scopes that a response cannot replace. */
const scopes = ['args', 'input', 'global_data', 'meta_data'] as const

const withResponse = (values: Json, content: unknown): Json => ({
  ...values,
  ...(isObject(content) && content),
  ...(Array.isArray(content) && { array: content }),
  response: isObject(content) && Object.hasOwn(content, 'response') ? content.response : content,
  ...Object.fromEntries(scopes.map((scope) => [scope, values[scope]])),
})

/** Adds the text that `foreach` makes of a list. */
const withForeach = (webhook: Json, values: Json, now: number): Json => {
  const { foreach } = webhook
  if (!isObject(foreach)) return values
  const { input_key: inputKey, output_key: outputKey, append, max } = foreach
  const list = lookup(textOf(inputKey) ?? '', values)
  const items = Array.isArray(list) ? list.slice(0, Math.min(numberOf(max) ?? maxItems, maxItems)) : []
  // One copy for all items: a response may have many members.
  const own: Record<string, unknown> = { ...values }
  const filling = new Filling(own, now, maxForeachInserted)
  let text = ''
  for (const item of items) {
    if (text.length > maxForeachLength || filling.isSpent) break
    own.this = item
    text += asText(filling.fill(textOf(append) ?? ''))
  }
  return { ...values, [textOf(outputKey) ?? 'foreach']: text.slice(0, maxForeachLength) }
}

const headersOf = (webhook: Json, values: Json, now: number): Readonly<Record<string, string>> => {
  const headers = fill(webhook.headers, values, now)
  return isObject(headers) ? requestHeaders(headers) : {}
}

/** Returns the parameters of a request; undefined if it has none. */
const paramsOf = (webhook: Json, values: Json, now: number): unknown => {
  const params = fill(webhook.params ?? webhook.body, values, now)
  if (!booleanOf(webhook.input_args_as_params)) return params ?? undefined
  return { ...(isObject(values.args) && values.args), ...(isObject(params) && params) }
}

const queryOf = (params: unknown): URLSearchParams =>
  new URLSearchParams(
    Object.entries(isObject(params) ? params : {}).map(([name, value]): [string, string] => [
      name,
      asText(value),
    ]),
  )

const bodyOf = (
  params: unknown,
  formParam: string | undefined,
  type: string | undefined,
): HttpRequest['body'] => {
  if (formParam)
    return {
      contentType: 'application/x-www-form-urlencoded',
      text: new URLSearchParams({ [formParam]: asText(params) }).toString(),
    }
  if (type?.startsWith('application/x-www-form-urlencoded'))
    return { contentType: type, text: queryOf(params).toString() }
  return { contentType: type ?? 'application/json', text: asText(params) }
}

const urlOf = (webhook: Json, values: Json, now: number): string | undefined => {
  const url = fillText(textOf(webhook.url) ?? '', values, now).trim()
  const user = textOf(webhook.user ?? webhook.auth_user ?? webhook.web_hook_auth_user)
  const password = textOf(webhook.pass ?? webhook.auth_password ?? webhook.web_hook_auth_password)
  return isTarget(url) && isHttpUrl(url) ? withCredentials(url, user, password) : undefined
}

/** Returns the request of a webhook; undefined without a usable URL. */
const requestOf = (webhook: Json, values: Json, now: number): HttpRequest | undefined => {
  const url = urlOf(webhook, values, now)
  if (url === undefined) return undefined
  const params = paramsOf(webhook, values, now)
  const formParam = textOf(webhook.form_param)
  const written = textOf(webhook.method)?.toUpperCase()
  const method =
    methods.find((each) => each === written) ?? (params === undefined && !formParam ? 'GET' : 'POST')
  const { 'content-type': type, ...headers } = headersOf(webhook, values, now)
  const common = { method, ...(Object.keys(headers).length > 0 && { headers }) }
  if (params === undefined) return { url, ...common }
  if (method === 'GET') return { url: withQuery(url, queryOf(params)), ...common }
  return { url, ...common, body: bodyOf(params, formParam, type) }
}

/**
 * Runs a data map: expressions, then webhooks, then the output. The first part that yields an output ends it.
 * `values` has what placeholders can name: `args`, `global_data`, `meta_data`, `call_id` and so on. Never
 * rejects: if nothing yields, the reply is {@link dataMapFailure}.
 */
export const runDataMap = async (map: Json, values: Json, tools: DataMapTools): Promise<DataMapResult> => {
  const run = new DataMapRun(tools)
  const args = isObject(values.args) ? values.args : {}
  const all = { ...values, args, input: { ...(isObject(values.input) && values.input), args } }
  tools.onEvent?.({ kind: 'input', args })
  let output = await run.expressions(map.expressions, all)
  if (output === undefined) {
    // A map may name the error keys of all its webhooks.
    const webhooks = objectsOf(map.webhooks, maxWebhooks).map((each) => ({
      error_keys: map.error_keys,
      ...each,
    }))
    const answered = await run.webhooks(webhooks, all)
    output = answered?.output ?? run.filled(map.output, answered?.values ?? all)
  }
  const url = run.url === undefined ? {} : { url: run.url }
  if (output === undefined)
    return { reply: { response: dataMapFailure, effects: [], postProcess: false, warnings: [] }, ...url }
  tools.onEvent?.({ kind: 'output', output })
  return { reply: readReply(output), output, ...url }
}
