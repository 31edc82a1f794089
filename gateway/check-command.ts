import type { Config, HandlerConfig } from '../config/types.ts'
import { checkDocument } from '../handlers/check.ts'
import type { DocumentFault } from '../handlers/handler.ts'

/** What `trunkline check` found. */
export interface CheckReport {
  /** Lines for a person, in the order of the file. */
  readonly lines: readonly string[]
  /** Whether any of them keeps a document from running. */
  readonly valid: boolean
}

/** Checks the documents that stand in a configuration, as their handlers would. Documents behind URLs are not fetched. */
export const checkDocuments = (config: Pick<Config, 'domains' | 'resources'>): CheckReport => {
  const handlers = [...config.domains.map((d) => d.handler), ...config.resources.map((r) => r.handler)]
  const reports = handlers
    .filter((handler) => handler?.document !== undefined)
    .map((handler) => report(handler!))
  return { lines: reports.flatMap((r) => r.lines), valid: reports.every((r) => r.valid) }
}

const report = ({ kind, document, name }: HandlerConfig): CheckReport => {
  const { errors, warnings } = checkDocument(kind, document ?? '')
  const line = (what: string) => (fault: DocumentFault) => {
    const place = fault.line === undefined ? fault.path : `${fault.path} (line ${fault.line})`
    return `${name} ${place}: ${what}: ${fault.message} [${fault.code}]`
  }
  return {
    lines: [...errors.map(line('error')), ...warnings.map(line('warning'))],
    valid: errors.length === 0,
  }
}
