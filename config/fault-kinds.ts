/** Kind of fault that `trunkline check` reports. */
export interface FaultKind {
  /** Meaning, in a sentence. */
  readonly meaning: string
  /** Remedy, in a sentence. */
  readonly remedy: string
}

/**
 * Kinds of faults by their codes, which never change. Faults of documents have the codes of their language
 * instead.
 */
export const faultKinds = {
  'file-unreadable': {
    meaning: 'The configuration, or a file that it names, cannot be read.',
    remedy: 'Correct the path, or give the user of the gateway permission to read the file.',
  },
  'file-too-large': {
    meaning: 'The configuration has more than 16 MiB, or a document has more than 256 KiB.',
    remedy: 'Check that the path names the right file.',
  },
  'wrong-file': {
    meaning: 'A file does not hold what its key requires, such as a certificate or its private key.',
    remedy: 'Name the right file, or renew it.',
  },
  'folder-unusable': {
    meaning: 'A folder cannot be created, read or written.',
    remedy: 'Correct the path, or give the user of the gateway permission for the folder.',
  },
  'unknown-address': {
    meaning:
      'A document calls an address that the file does not declare. This is a warning: the API may have it.',
    remedy: 'Correct the address, or create it.',
  },
  'nothing-to-do': {
    meaning: 'The file declares nothing that could receive or place a call. This is a warning.',
    remedy: 'Add a domain, an endpoint or a subscriber, unless the API creates them.',
  },
  'not-utf8': {
    meaning: 'The file is written in another encoding than UTF-8.',
    remedy: 'Save the file as UTF-8.',
  },
  'nul-byte': {
    meaning: 'The file has a byte with the value 0, which no text contains.',
    remedy: 'Check that the path names the right file, or restore the file.',
  },
  'yaml-syntax': {
    meaning: 'The file is no YAML.',
    remedy: 'Correct the place, and check again: only the first such fault is reported.',
  },
  'yaml-indent': {
    meaning: 'A line begins with another number of spaces than the lines of its group.',
    remedy: 'Indent all keys of a group alike. The hint names the groups above the line.',
  },
  'yaml-tab': {
    meaning: 'A tab indents a line. YAML permits only spaces.',
    remedy: 'Replace all tabs, for example by `expand -t2`.',
  },
  'yaml-alias': {
    meaning: 'An alias such as `*nearby` has no anchor `&nearby` above it.',
    remedy: 'Correct the name, or define the anchor before its first use.',
  },
  'yaml-tag': {
    meaning: 'A value begins with `!`, which marks a YAML tag.',
    remedy: 'Put the value in quotes.',
  },
  'yaml-documents': {
    meaning: 'The file has more than one YAML document.',
    remedy: 'Remove the lines `---` and `...`, or the second document.',
  },
  'yaml-too-large': {
    meaning: 'The YAML expands to too many values, or is nested too deeply.',
    remedy: 'Write the values out instead of nesting aliases.',
  },
  'duplicate-key': {
    meaning: 'A group has the same key twice.',
    remedy: 'Merge the two, or remove one.',
  },
  'variable-missing': {
    meaning: 'A value refers to an environment variable that is not set.',
    remedy: 'Set the variable for the gateway and for `check`, or give a default.',
  },
  'unknown-key': {
    meaning: 'The configuration has no such key at this place.',
    remedy: 'Correct the spelling or the indentation. [Configuration](configuration.md) lists all keys.',
  },
  'misplaced-key': {
    meaning: 'The key exists, but the other keys of its group exclude it.',
    remedy: 'Remove the key, or the key that excludes it.',
  },
  'missing-key': {
    meaning: 'A group lacks a key that has no default.',
    remedy: 'Add the key.',
  },
  'wrong-type': {
    meaning: 'The value is of another type than the key requires.',
    remedy: 'Use a value of the type in the message. Quotes make a text of a number.',
  },
  'unknown-choice': {
    meaning: 'The value is none of the permitted ones.',
    remedy: 'Use one of the values in the message.',
  },
  'wrong-format': {
    meaning: 'The text does not have the form that the key requires.',
    remedy: 'Follow the example in the message.',
  },
  'out-of-range': {
    meaning: 'The number is too small or too large.',
    remedy: 'Use a number within the limits in the message.',
  },
  'wrong-length': {
    meaning: 'The text or list is too short or too long.',
    remedy: 'Keep to the length in the message.',
  },
  'wrong-value': {
    meaning: 'The value breaks another rule of the key.',
    remedy: 'Follow the message.',
  },
  'unknown-name': {
    meaning: 'The value must be a name that the file defines elsewhere, and the file does not.',
    remedy: 'Correct the name, or define it.',
  },
  duplicate: {
    meaning: 'Two entries have the same name. The message has the line of the first one.',
    remedy: 'Rename or remove one of them.',
  },
  conflict: {
    meaning: 'The value contradicts another key of the file.',
    remedy: 'Change either of the two.',
  },
  questionable: {
    meaning: 'The setting is valid, but it is dangerous or has no effect. This is a warning.',
    remedy: 'Change the setting, unless you want it so.',
  },
} as const satisfies Readonly<Record<string, FaultKind>>

/** Code of one of {@link faultKinds}. */
export type FaultCode = keyof typeof faultKinds
