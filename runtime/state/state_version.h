/*
 * The version of state.json, for its reader and its writer.
 */
#pragma once

/* Raised when an older agentrun would misunderstand the file, not for each new member. */
#define STATE_VERSION 1
