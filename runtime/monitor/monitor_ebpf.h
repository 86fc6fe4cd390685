/*
 * Where the resident programs find what was loaded into the kernel for all containers.
 */
#pragma once

#define MONITOR_BPF_DIR "/run/agentrun/bpf"
