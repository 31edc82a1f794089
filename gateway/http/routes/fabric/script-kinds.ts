import type { DocumentKind } from '../../../../handlers/reading/check-document.ts'
import type { ValidatedFields } from '../../requests/typed-routes.ts'
import {
  documentBody,
  documentOf,
  type ScriptValue,
  type StoredDocument,
  scriptValue,
} from '../shared/document-checks.ts'
import { documentText, httpUrl, optional, text, withoutUnset } from '../shared/field-schemas.ts'
import type { ResourceKind } from './resource-kind.ts'

/** Returns the document in `contents` of a body, if any. */
const contentsOf = (kind: DocumentKind, contents: ScriptValue | undefined): readonly StoredDocument[] =>
  contents === undefined ? [] : [{ kind, document: documentOf(contents), attribute: 'contents' }]

const scriptProperties = {
  name: text(),
  contents: scriptValue,
  script_type: { type: 'string', enum: ['calling'] },
  status_callback_url: optional(httpUrl),
} as const

type ScriptBody = ValidatedFields<typeof scriptProperties, 'name' | 'contents'>

/** Scripts that the gateway stores. */
export const swmlScripts: ResourceKind<'swml_script', ScriptBody> = {
  type: 'swml_script',
  path: 'swml_scripts',
  title: 'script',
  properties: scriptProperties,
  required: ['name', 'contents'],
  answer: {
    name: { type: 'string' },
    contents: {},
    script_type: { type: 'string' },
    request_url: { type: 'null' },
    status_callback_url: { type: ['string', 'null'] },
  },
  documents: ({ contents }) => contentsOf('script', contents),
  create: ({ name, contents, status_callback_url: url }) => ({
    displayName: name,
    details: { document: documentOf(contents), ...withoutUnset({ statusCallbackUrl: url }) },
  }),
  change: ({ name, contents, status_callback_url: url }) => ({
    displayName: name,
    details: withoutUnset({
      document: contents === undefined ? undefined : documentOf(contents),
      statusCallbackUrl: url,
    }),
  }),
  show: ({ displayName, details }) => ({
    name: displayName,
    contents: documentBody(details.document),
    script_type: 'calling',
    request_url: null,
    status_callback_url: details.statusCallbackUrl ?? null,
  }),
}

const xmlProperties = {
  display_name: text(),
  contents: documentText,
  status_callback_url: optional(httpUrl),
} as const

type XmlBody = ValidatedFields<typeof xmlProperties, 'display_name' | 'contents'>

/** XML documents that the gateway stores. */
export const cxmlScripts: ResourceKind<'cxml_script', XmlBody> = {
  type: 'cxml_script',
  path: 'cxml_scripts',
  title: 'XML document',
  properties: xmlProperties,
  required: ['display_name', 'contents'],
  answer: {
    display_name: { type: 'string' },
    contents: { type: 'string' },
    request_url: { type: 'null' },
    status_callback_url: { type: ['string', 'null'] },
  },
  documents: ({ contents }) => contentsOf('xml', contents),
  create: ({ display_name: displayName, contents, status_callback_url: url }) => ({
    displayName,
    details: { document: contents, ...withoutUnset({ statusCallbackUrl: url }) },
  }),
  change: ({ display_name: displayName, contents, status_callback_url: url }) => ({
    displayName,
    details: withoutUnset({ document: contents, statusCallbackUrl: url }),
  }),
  show: ({ displayName, details }) => ({
    display_name: displayName,
    contents: details.document,
    request_url: null,
    status_callback_url: details.statusCallbackUrl ?? null,
  }),
}
