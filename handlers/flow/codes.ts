/** Codes of faults in call flows. */
export const codes = {
  unreachable: 'flow_fetch_failed',
  wrongType: 'flow_element_wrong_type',
  elementUndefined: 'flow_element_undefined',
  version: 'flow_version_invalid',
  noEntry: 'flow_entry_missing',
  severalEntries: 'flow_entry_duplicated',
  kind: 'flow_kind_undefined',
  optionMissing: 'flow_option_missing',
  optionUndefined: 'flow_option_undefined',
  optionInvalid: 'flow_option_invalid_value',
  outcome: 'flow_outcome_undefined',
  outcomeTwice: 'flow_outcome_duplicated',
  dangling: 'flow_edge_dangling',
  toStart: 'flow_edge_to_entry',
  unreached: 'flow_node_unreachable',
  tooMany: 'flow_too_many_nodes',
} as const
