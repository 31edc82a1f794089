import type { DocumentRequest, DocumentSource, FetchedDocument, HandlerContext } from '../handler.ts'
import { DocumentInvalid, DocumentUnreachable } from '../handler.ts'
import { CallEnded } from '../verbs.ts'
import { redactedUrl } from './urls.ts'

/** Failure for which the fallback URL is requested. */
export interface DocumentFailure {
  /** Code of the language, such as `11200` or `relay_script_parse_error`. */
  readonly code: string
  /** Failed URL, without credentials. */
  readonly url: string
}

/** Fetched and checked document. */
export interface LoadedDocument<T> {
  readonly program: T
  /** Base of relative URLs; undefined for an inline document. */
  readonly url: string | undefined
  /** URL in faults; absent for an inline document. */
  readonly document?: string
}

/** Requests and checks of the documents of one language. */
export interface DocumentLanguage<T> {
  /** Returns the code for a document that could not be fetched. */
  unreachable(error: DocumentUnreachable): string
  /** Returns the request for a URL; `failure` is present if the URL is the fallback of another one. */
  request(url: string, method: 'GET' | 'POST', failure?: DocumentFailure): DocumentRequest
  /** Reads and checks a document. Throws {@link DocumentInvalid}. */
  read(document: {
    readonly text: string
    readonly url?: string
    readonly contentType?: string
  }): T | Promise<T>
}

/**
 * Fetches and reads a document. If its server fails or its text is invalid, it logs that failure and requests
 * the fallback URL once. Throws {@link DocumentUnreachable} or {@link DocumentInvalid} if that fails too, or
 * without a fallback.
 */
export const loadDocument = async <T>(
  source: DocumentSource,
  context: HandlerContext,
  language: DocumentLanguage<T>,
): Promise<LoadedDocument<T>> => {
  if (source.kind === 'inline') return { program: await language.read({ text: source.text }), url: undefined }
  const { url, method = 'POST', fallbackUrl, fallbackMethod = method } = source
  try {
    return await fetchAndRead(url, language.request(url, method), context, language)
  } catch (error) {
    const failure = fallbackUrl === undefined ? undefined : failureOf(error, url, language)
    if (!failure || fallbackUrl === undefined) throw error
    const [fault] = error instanceof DocumentInvalid ? error.faults : []
    const message = `${fault?.message ?? (error as Error).message} The fallback URL is requested.`
    context.warn({ path: '', ...fault, code: failure.code, message, document: failure.url })
    return fetchAndRead(
      fallbackUrl,
      language.request(fallbackUrl, fallbackMethod, failure),
      context,
      language,
    )
  }
}

const failureOf = (
  error: unknown,
  url: string,
  language: DocumentLanguage<unknown>,
): DocumentFailure | undefined => {
  const code =
    error instanceof DocumentUnreachable
      ? language.unreachable(error)
      : error instanceof DocumentInvalid
        ? error.faults[0]?.code
        : undefined
  return code === undefined ? undefined : { code, url: redactedUrl(url) }
}

const fetchAndRead = async <T>(
  requestedUrl: string,
  request: DocumentRequest,
  context: HandlerContext,
  language: DocumentLanguage<T>,
): Promise<LoadedDocument<T>> => {
  const fetched = await fetchOne(request, context)
  // Without a redirect, the document's own URL is the requested one without the form fields of a GET.
  const url = fetched.url === request.url ? requestedUrl : fetched.url
  const document = redactedUrl(url)
  try {
    return { program: await language.read({ ...fetched, url }), url, document }
  } catch (error) {
    if (!(error instanceof DocumentInvalid)) throw error
    throw new DocumentInvalid(error.faults.map((fault) => ({ ...fault, document })))
  }
}

const fetchOne = async (request: DocumentRequest, context: HandlerContext): Promise<FetchedDocument> => {
  try {
    return await context.fetchDocument(request)
  } catch (error) {
    // The call has ended: the document has no fault and the fallback is not needed.
    if (error instanceof CallEnded) throw error
    const message = error instanceof Error ? error.message : 'The document could not be fetched.'
    throw new DocumentUnreachable(redactedUrl(request.url), message, error)
  }
}
