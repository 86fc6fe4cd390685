#!/usr/bin/python3
"""A client of the Kubernetes Container Runtime Interface for the tests.

cri.py DESCRIPTORS SOCKET METHOD [JSON]: makes one call; prints the answer as JSON, or for
ExecSync the output, and ends with the command's exit code. An error of the service goes to
stderr with exit code 100. DESCRIPTORS is what protoc --descriptor_set_out made of cri.proto."""
import json
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory


def message_class(pool, descriptor):
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


def main():
    descriptors, path, name = sys.argv[1:4]
    body = json.loads(sys.argv[4]) if len(sys.argv) > 4 else {}
    pool = descriptor_pool.DescriptorPool()
    with open(descriptors, "rb") as file:
        for entry in descriptor_pb2.FileDescriptorSet.FromString(file.read()).file:
            pool.Add(entry)
    method = pool.FindServiceByName("runtime.v1.RuntimeService").methods_by_name[name]
    request = message_class(pool, method.input_type)
    answer = message_class(pool, method.output_type)
    channel = grpc.insecure_channel("unix://" + path, options=[("grpc.default_authority", "localhost")])
    call = channel.unary_unary("/runtime.v1.RuntimeService/" + name,
                               request_serializer=lambda m: m.SerializeToString(),
                               response_deserializer=answer.FromString)
    try:
        result = call(json_format.ParseDict(body, request()), timeout=60)
    except grpc.RpcError as error:
        print(error.code().name, error.details(), file=sys.stderr)
        return 100
    if name == "ExecSync":
        sys.stdout.buffer.write(result.stdout)
        sys.stderr.buffer.write(result.stderr)
        return result.exit_code
    print(json.dumps(json_format.MessageToDict(result, preserving_proto_field_name=True)))
    return 0


sys.exit(main())
