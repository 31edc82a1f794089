import type { DocumentRequest, DocumentSource, FetchedDocument, HandlerContext } from '../handler.ts'
import { DocumentInvalid, DocumentUnreachable } from '../handler.ts'
import { CallEnded } from '../verbs.ts'
import { urlForPeople } from './urls.ts'

/** Why the fallback URL is asked instead. */
export interface Failure {
  /** A code of the language, such as `11200` or `relay_script_parse_error`. */
  readonly code: string
  /** The URL that failed, without credentials. */
  readonly url: string
}

/** A document that has been read. */
export interface Loaded<T> {
  readonly program: T
  /** Where relative URLs start; undefined for an inline document. */
  readonly url: string | undefined
  /** Its URL as faults name it. */
  readonly document?: string
}

/** How one language asks for and reads its documents. */
export interface Language<T> {
  /** Code for a document that could not be had. */
  unreachable(error: DocumentUnreachable): string
  /** The request for a URL; `failure` is set when it is the fallback of another one. */
  request(url: string, method: 'GET' | 'POST', failure?: Failure): DocumentRequest
  /** Reads and checks everything; throws {@link DocumentInvalid}. `document` says where the text is from. */
  read(document: {
    readonly text: string
    readonly url?: string
    readonly contentType?: string
  }): T | Promise<T>
}

/**
 * Has a document and reads it. When its server fails or its text is invalid, the fallback URL is asked once, and the first failure is
 * told to the context. Throws {@link DocumentUnreachable} or {@link DocumentInvalid} when there is no way left.
 */
export const loadDocument = async <T>(
  source: DocumentSource,
  context: HandlerContext,
  language: Language<T>,
): Promise<Loaded<T>> => {
  if (source.kind === 'inline') return { program: await language.read({ text: source.text }), url: undefined }
  const { url, method = 'POST', fallbackUrl, fallbackMethod = method } = source
  try {
    return await fetchAndRead(url, language.request(url, method), context, language)
  } catch (error) {
    const failure = fallbackUrl === undefined ? undefined : failureOf(error, url, language)
    if (!failure || fallbackUrl === undefined) throw error
    const [fault] = error instanceof DocumentInvalid ? error.faults : []
    const message = `${fault?.message ?? (error as Error).message} The fallback URL is asked.`
    context.warn({ path: '', ...fault, code: failure.code, message, document: failure.url })
    return fetchAndRead(
      fallbackUrl,
      language.request(fallbackUrl, fallbackMethod, failure),
      context,
      language,
    )
  }
}

const failureOf = (error: unknown, url: string, language: Language<unknown>): Failure | undefined => {
  const code =
    error instanceof DocumentUnreachable
      ? language.unreachable(error)
      : error instanceof DocumentInvalid
        ? error.faults[0]?.code
        : undefined
  return code === undefined ? undefined : { code, url: urlForPeople(url) }
}

const fetchAndRead = async <T>(
  asked: string,
  request: DocumentRequest,
  context: HandlerContext,
  language: Language<T>,
): Promise<Loaded<T>> => {
  const fetched = await fetchOne(request, context)
  // Unless it was redirected, the document's own URL is the one that was asked for, without the form fields of a GET.
  const url = fetched.url === request.url ? asked : fetched.url
  const document = urlForPeople(url)
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
    // Nobody is there for it any more: that is no fault of the document, and no fallback is wanted either.
    if (error instanceof CallEnded) throw error
    const message = error instanceof Error ? error.message : 'The document could not be fetched.'
    throw new DocumentUnreachable(urlForPeople(request.url), message, error)
  }
}
